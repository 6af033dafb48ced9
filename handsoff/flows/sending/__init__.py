"""Handing over: send, offer, save and push, from the wish to the receipt."""
