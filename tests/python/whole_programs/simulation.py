"""Things that change with time: particles, fields on grids, cells."""

import math

import numpy as np

# Particles.


def accelerations(position, mass, softening):
    """Of all on all: (n, 3) from positions (n, 3) and masses (n,)."""
    d = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    r2 = (d**2).sum(axis=2) + softening**2
    return (d * (mass[np.newaxis, :] / (r2 * np.sqrt(r2)))[:, :, np.newaxis]).sum(axis=1)


def n_body(position, velocity, mass, dt, steps):
    """Leapfrog. position and velocity (n, 3) are moved in place; gives the kinetic energy."""
    acceleration = accelerations(position, mass, 0.5)
    for _ in range(steps):
        velocity += 0.5 * dt * acceleration
        position += dt * velocity
        acceleration = accelerations(position, mass, 0.5)
        velocity += 0.5 * dt * acceleration
    return 0.5 * np.sum(mass[:, None] * velocity**2)


def n_body_by_loops(position, velocity, mass, dt, steps):
    """The same forces pair by pair, each pair once; position and velocity (n, 3) in place."""
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.25
                magnitude = dt / (r2 * math.sqrt(r2))
                velocity[i, 0] -= dx * mass[j] * magnitude
                velocity[i, 1] -= dy * mass[j] * magnitude
                velocity[i, 2] -= dz * mass[j] * magnitude
                velocity[j, 0] += dx * mass[i] * magnitude
                velocity[j, 1] += dy * mass[i] * magnitude
                velocity[j, 2] += dz * mass[i] * magnitude
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * velocity[i, k]


def kernel(r, h):
    """The cubic spline of smoothed particles, in two dimensions."""
    q = r / h
    s = 10.0 / (7.0 * math.pi * h * h)
    if q < 1.0:
        return s * (1.0 - 1.5 * q * q + 0.75 * q * q * q)
    if q < 2.0:
        return s * 0.25 * (2.0 - q) ** 3
    return 0.0


def smoothed_particles(position, velocity, mass, h, dt, steps):
    """SPH of a gas. position, velocity (n, 2) in place; gives the densities (n,)."""
    n = position.shape[0]
    density = np.zeros(n)
    for _ in range(steps):
        for i in range(n):
            rho = 0.0
            for j in range(n):
                dx = position[i] - position[j]
                rho += mass * kernel(np.sqrt(np.dot(dx, dx)), h)
            density[i] = rho
        pressure = 2.0 * (density - 1.0)
        force = np.zeros_like(position)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = position[i] - position[j]
                r = np.sqrt(d[0] ** 2 + d[1] ** 2)
                if r < 2 * h:
                    slope = (kernel(r + 1e-3, h) - kernel(r - 1e-3, h)) / 2e-3
                    shared = pressure[i] / density[i] ** 2 + pressure[j] / density[j] ** 2
                    force[i] -= mass * shared * slope * d / (r + 1e-9)
        velocity += dt * force
        position += dt * velocity
    return density


def lorenz(state):
    x, y, z = state
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def runge_kutta(start, dt, steps):
    """RK4 along Lorenz's attractor: the path (steps + 1, 3) from start (3,)."""
    path = np.empty((steps + 1, 3))
    path[0] = start
    for n in range(steps):
        y = path[n]
        k1 = lorenz(y)
        k2 = lorenz(y + dt / 2 * k1)
        k3 = lorenz(y + dt / 2 * k2)
        k4 = lorenz(y + dt * k3)
        path[n + 1] = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def pendulum(theta, omega, dt, steps):
    """Many damped pendulums at once, semi-implicit; theta, omega (n,) are new arrays each step."""
    for _ in range(steps):
        omega = omega - dt * (9.81 * np.sin(theta) + 0.1 * omega)
        theta = theta + dt * omega
    return theta, omega


# Fields on grids.


def heat(u, alpha, steps):
    """u (n, m) in place, edges held."""
    for _ in range(steps):
        u[1:-1, 1:-1] += alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
                                  - 4 * u[1:-1, 1:-1])


def heat_by_loops(u, alpha, steps):
    """A new array (n, m); two buffers take turns."""
    old, new = u.copy(), u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]
                new[i, j] = old[i, j] + alpha * (around - 4.0 * old[i, j])
        old, new = new, old
    return old


def gauss_seidel(u, steps):
    """Laplace's equation: each point from neighbours that are partly new. u (n, m) in place."""
    change = 0.0
    for _ in range(steps):
        change = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                value = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(value - u[i, j]))
                u[i, j] = value
    return change


def wave(u, c, steps):
    """A string (n,) that is held at both ends; slices, three time levels."""
    before = u.copy()
    now = u.copy()
    for _ in range(steps):
        after = np.zeros_like(u)
        after[1:-1] = (2 * now[1:-1] - before[1:-1]
                       + c * c * (now[2:] - 2 * now[1:-1] + now[:-2]))
        before, now = now, after
    return now


def wave_by_loops(u, v, c, dt, steps):
    """A membrane: heights u and speeds v (n, m), both in place."""
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] += dt * c * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
                                     - 4 * u[i, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] += dt * v[i, j]


def advect(u, c, steps):
    """Upwind, u (n,) in place: the slice that is stored overlaps the one that is read."""
    for _ in range(steps):
        u[1:] -= c * (u[1:] - u[:-1])
        u[0] = u[-1]


def shifted(u, steps):
    """Each slice of u (n,) is stored over the other, both ways."""
    for _ in range(steps):
        u[1:] = u[:-1]
        u[:-2] = u[2:] * 0.5
        u[::2] += u[::2][::-1]
    return u


def burgers(u, dt, dx, nu, steps):
    """Viscous Burgers' equation on a ring, u (n,) in place."""
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = (un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2])
                   + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2]))
        u[0] = (un[0] - un[0] * dt / dx * (un[0] - un[-2])
                + nu * dt / dx**2 * (un[1] - 2 * un[0] + un[-2]))
        u[-1] = u[0]


def fdtd_line(ez, hy, source):
    """Maxwell in one dimension: ez (n,), hy (n - 1,) in place; source (steps,)."""
    middle = len(ez) // 2
    for t in range(len(source)):
        hy += 0.5 * (ez[1:] - ez[:-1])
        left, right = ez[1], ez[-2]
        ez[1:-1] += 0.5 * (hy[1:] - hy[:-1])
        ez[0], ez[-1] = left, right
        ez[middle] += source[t]


def fdtd_plane(ez, hx, hy, steps):
    """Maxwell in the plane: ez (n, m), hx (n, m - 1), hy (n - 1, m), all in place."""
    for t in range(steps):
        hx -= 0.5 * (ez[:, 1:] - ez[:, :-1])
        hy += 0.5 * (ez[1:, :] - ez[:-1, :])
        ez[1:-1, 1:-1] += 0.5 * (hy[1:, 1:-1] - hy[:-1, 1:-1]) - 0.5 * (hx[1:-1, 1:]
                                                                       - hx[1:-1, :-1])
        ez[ez.shape[0] // 2, ez.shape[1] // 2] += 1.0 / (1.0 + t)
    return (ez**2).sum()


def laplacian(z):
    return (np.roll(z, 1, axis=0) + np.roll(z, -1, axis=0)
            + np.roll(z, 1, axis=1) + np.roll(z, -1, axis=1) - 4 * z)


def gray_scott(u, v, feed, kill, steps):
    """Reaction and diffusion on a torus: new u, v (n, m)."""
    for _ in range(steps):
        reaction = u * v * v
        u = u + 0.16 * laplacian(u) - reaction + feed * (1 - u)
        v = v + 0.08 * laplacian(v) + reaction - (feed + kill) * v
    return u, v


LATTICE_X = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
LATTICE_Y = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
LATTICE_WEIGHT = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])


def lattice_boltzmann(f, omega, steps):
    """D2Q9 on a torus: f (9, n, m) in place; gives density and speeds (n, m)."""
    for _ in range(steps):
        for k in range(9):
            f[k] = np.roll(np.roll(f[k], LATTICE_X[k], axis=0), LATTICE_Y[k], axis=1)
        rho = f.sum(axis=0)
        ux = np.zeros_like(rho)
        uy = np.zeros_like(rho)
        for k in range(9):
            ux += LATTICE_X[k] * f[k]
            uy += LATTICE_Y[k] * f[k]
        ux /= rho
        uy /= rho
        for k in range(9):
            cu = 3 * (LATTICE_X[k] * ux + LATTICE_Y[k] * uy)
            equilibrium = LATTICE_WEIGHT[k] * rho * (1 + cu + 0.5 * cu**2
                                                     - 1.5 * (ux**2 + uy**2))
            f[k] += omega * (equilibrium - f[k])
    return rho, ux, uy


# Cells.


def game_of_life(cells, generations):
    """cells (n, m) of 0 and 1, in place; what is outside is dead."""
    for _ in range(generations):
        neighbours = np.zeros_like(cells)
        neighbours[1:-1, 1:-1] = (cells[:-2, :-2] + cells[:-2, 1:-1] + cells[:-2, 2:]
                                  + cells[1:-1, :-2] + cells[1:-1, 2:]
                                  + cells[2:, :-2] + cells[2:, 1:-1] + cells[2:, 2:])
        birth = (neighbours == 3) & (cells == 0)
        survive = ((neighbours == 2) | (neighbours == 3)) & (cells == 1)
        cells[...] = 0
        cells[birth | survive] = 1
    return cells.sum()


def life_by_loops(cells, generations):
    """The same on a torus, cell by cell: a new array (n, m)."""
    n, m = cells.shape
    for _ in range(generations):
        after = np.zeros_like(cells)
        for i in range(n):
            for j in range(m):
                total = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di != 0 or dj != 0:
                            total += cells[(i + di) % n, (j + dj) % m]
                if total == 3 or (total == 2 and cells[i, j]):
                    after[i, j] = 1
        cells = after
    return cells


def elementary_automaton(first, rule, generations):
    """Rule 30 and its like: the history (generations, n) as bytes from first (n,)."""
    history = np.zeros((generations, len(first)), dtype=np.uint8)
    history[0] = first
    for t in range(1, generations):
        row = history[t - 1]
        pattern = 4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)
        history[t] = (rule >> pattern) & 1
    return history


def sandpile(grains):
    """Topples grains (n, m) in place until all are stable; gives the number of rounds."""
    rounds = 0
    while (grains >= 4).any():
        topple = grains >= 4
        grains[topple] -= 4
        grains[1:, :] += topple[:-1, :]
        grains[:-1, :] += topple[1:, :]
        grains[:, 1:] += topple[:, :-1]
        grains[:, :-1] += topple[:, 1:]
        rounds += 1
    return rounds


def ising(spins, chances, beta):
    """Metropolis on a torus: spins (n, m) of -1 and 1 in place; chances (steps, n, m) in [0, 1)."""
    n, m = spins.shape
    flips = 0
    for t in range(chances.shape[0]):
        for i in range(n):
            for j in range(m):
                around = (spins[(i + 1) % n, j] + spins[i - 1, j]
                          + spins[i, (j + 1) % m] + spins[i, j - 1])
                cost = 2 * spins[i, j] * around
                if cost <= 0 or chances[t, i, j] < np.exp(-beta * cost):
                    spins[i, j] = -spins[i, j]
                    flips += 1
    return flips, spins.mean()


def particles_in_cells(x, v, n, dt, steps):
    """A plasma in one dimension: x, v (p,) in place; gives the charges (n,) of the last step."""
    charge = np.zeros(n)
    for _ in range(steps):
        charge = np.zeros(n)
        for p in range(len(x)):
            i = int(x[p]) % n
            share = x[p] - int(x[p])
            charge[i] += 1 - share
            charge[(i + 1) % n] += share
        field = np.cumsum(charge - charge.mean())
        field -= field.mean()
        for p in range(len(x)):
            v[p] -= dt * field[int(x[p]) % n]
            x[p] = (x[p] + dt * v[p]) % n
    return charge


def life_by_padding(cells, generations):
    """The same by a border of zeros and sums of nine windows: a new array (n, m)."""
    n, m = cells.shape
    for _ in range(generations):
        around = np.pad(cells, 1)
        total = sum(around[i:i + n, j:j + m] for i in range(3) for j in range(3)) - cells
        cells = ((total == 3) | ((cells == 1) & (total == 2))).astype(cells.dtype)
    return cells
