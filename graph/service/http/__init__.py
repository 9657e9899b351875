"""The HTTP service: every route leads into the one graph, and the tenant comes from the credential alone.

app.py             routes and middleware put together
observe.py         outermost: request id, headers, one log line, nothing unexpected gets out
authentication.py  who calls, how often, how much at once; closed unless a path is listed as open
bodies.py          JSON as strict as it has to be, for every door
service.py         what the routes stand on
"""
