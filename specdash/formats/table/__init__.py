"""Tables of any tool: a row a verify step, a response, or a dataset, with columns of any names.

Names that are known are taken; otherwise the user says which column is what. Nothing is guessed.
"""
