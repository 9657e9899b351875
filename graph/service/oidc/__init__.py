"""OpenID Connect: people sign in at a provider (authorization code with PKCE).

fetching.py  requests to the provider, bounded in size and time
provider.py  its addresses and keys, the code for an ID token, the token checked
people.py    from the token's claims to who it speaks for
"""
