"""Small combinatorial programs: loops that leave early, tables, bits, recursion."""

import numpy as np


def queens(n):
    """How many ways n queens leave each other alone, by backtracking without recursion."""
    columns = np.zeros(n, dtype=np.int64)
    columns[0] = -1
    count = 0
    row = 0
    while row >= 0:
        columns[row] += 1
        while columns[row] < n:
            free = True
            for r in range(row):
                if columns[r] == columns[row] or abs(columns[r] - columns[row]) == row - r:
                    free = False
                    break
            if free:
                break
            columns[row] += 1
        if columns[row] >= n:
            row -= 1
        elif row == n - 1:
            count += 1
        else:
            row += 1
            columns[row] = -1
    return count


def permutations(p):
    """Steps p (n,) in place from the first to the last in order; gives how many there are."""
    n = len(p)
    count = 0
    while True:
        count += 1
        i = n - 2
        while i >= 0 and p[i] > p[i + 1]:
            i -= 1
        if i < 0:
            return count
        j = n - 1
        while p[j] < p[i]:
            j -= 1
        p[i], p[j] = p[j], p[i]
        p[i + 1:] = p[i + 1:][::-1]


def pascal(n):
    """Binomials (n, n), each row from the one above."""
    table = np.zeros((n, n), dtype=np.int64)
    table[:, 0] = 1
    for i in range(1, n):
        table[i, 1:i + 1] = table[i - 1, :i] + table[i - 1, 1:i + 1]
    return table


def spiral(n):
    """0 to n * n - 1, written inwards: (n, n)."""
    a = np.full((n, n), -1)
    i = j = 0
    di, dj = 0, 1
    for k in range(n * n):
        a[i, j] = k
        if not (0 <= i + di < n and 0 <= j + dj < n) or a[i + di, j + dj] != -1:
            di, dj = dj, -di
        i, j = i + di, j + dj
    return a


def magic_square(n):
    """(n, n) for odd n."""
    a = np.zeros((n, n), dtype=int)
    i, j = 0, n // 2
    for k in range(1, n * n + 1):
        a[i, j] = k
        ni, nj = (i - 1) % n, (j + 1) % n
        if a[ni, nj]:
            ni, nj = (i + 1) % n, j
        i, j = ni, nj
    return a, a.sum(axis=0), np.trace(a)


def hanoi(n, source, goal, spare):
    """The moves for n discs."""
    if n == 0:
        return 0
    return hanoi(n - 1, source, spare, goal) + 1 + hanoi(n - 1, spare, goal, source)


def checksum(data):
    """CRC-32 of bytes (n,), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            crc = (crc >> 1) ^ 0xEDB88320 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def xorshift(seed, n):
    """Marsaglia's, of 32 bits: (n,)."""
    out = np.zeros(n, dtype=np.uint32)
    x = np.uint32(seed)
    for i in range(n):
        x ^= x << np.uint32(13)
        x ^= x >> np.uint32(17)
        x ^= x << np.uint32(5)
        out[i] = x
    return out


def grey_codes(bits):
    """All codes of so many bits, and their bits (2**bits, bits)."""
    k = np.arange(1 << bits)
    codes = k ^ (k >> 1)
    return codes, (codes[:, None] >> np.arange(bits)[::-1]) & 1


def coins(values, amount):
    """How many ways there are to pay, and the least number of coins."""
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    fewest = np.full(amount + 1, amount + 1)
    fewest[0] = 0
    for v in values:
        for a in range(v, amount + 1):
            ways[a] += ways[a - v]
            fewest[a] = min(fewest[a], fewest[a - v] + 1)
    return ways[amount], fewest[amount]


def largest_sum(x):
    """Kadane's: the largest sum of a run of x (n,), and where the run is."""
    best = current = x[0]
    start = best_start = best_stop = 0
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
            start = i
        else:
            current += x[i]
        if current > best:
            best, best_start, best_stop = current, start, i
    return best, best_start, best_stop


def sudoku_fits(board, row, column, digit):
    """Whether a digit may stand there on a board (9, 9); 0 is empty."""
    if (board[row] == digit).any() or (board[:, column] == digit).any():
        return False
    top, left = row - row % 3, column - column % 3
    return not (board[top:top + 3, left:left + 3] == digit).any()


def sudoku_choices(board):
    """How many digits fit each field, 0 where one stands: (9, 9)."""
    out = np.zeros((9, 9), dtype=int)
    for row in range(9):
        for column in range(9):
            if board[row, column] == 0:
                out[row, column] = sum(sudoku_fits(board, row, column, d) for d in range(1, 10))
    return out
