"""How the weights that ship were learned."""
