"""What is counted of sizes."""


def count_of(shape):
    """How many elements an array of the shape has."""
    count = 1
    for n in shape:
        count = count * n
    return count
