"""Ways to make an array of others, as text, for random_arrays.py.

`{f}` stands for an array of floats, `{i}` of integers, `{u}` of integers of fewer than 64 bits,
`{b}` of bools, `{z}` of complex numbers, `{r}` of floats or integers, `{a}` of anything; a digit
behind the letter is the number of axes. `{f1:p}` is called `p` in the rest of the form, where
`{=p}` is the same array again. `{s}` is a float, `{k}` an int, `{t}` a dtype, `{x}` an `axis=`
or nothing and `{n}` an axis. `g` is a vector of places that nearly every array has.
"""

FLOATS = """\
{f} + {f}
{f} - {f} * 0.5
{f} * {f}
{f} * {s}
{f} / 4
{f} / ({f:p} * {=p} + 1)
1 / {f}
{f:p} * {=p} - {=p}
np.maximum({f}, {f})
np.minimum({f}, {s})
np.fmax({f}, {f})
np.abs({f})
-{f}
{f} // 2
{f} % 3
np.fmod({f}, 1.5)
{f} ** 2
{f} ** 3
np.sqrt(np.abs({f}))
np.floor({f})
np.rint({f})
np.trunc({f} * 1.5)
np.sign({f})
np.clip({f}, -1, {s})
np.clip({f}, {f}, None)
np.where({b}, {f}, {f})
np.where({f} > {s}, {f}, 0)
np.where(np.isnan({f:p}), 0, {=p})
np.select([{f:p} > 1, {=p} > 0], [{=p}, {s}], default=-1)
np.sin({f})
np.exp(-np.abs({f}))
np.tanh({f})
np.log1p(np.abs({f}))
np.arctan2({f}, {f})
np.hypot({f}, {f})
np.copysign({f}, {f})
np.heaviside({f}, 0.5)
np.nan_to_num({f})
np.round({f}, 1)
np.square({f}) - {s}
np.modf({f})[0]
np.divmod({f}, 2)[1]
np.where({f} == 0, np.nan, {f})
({f} - {f}).astype(np.{t})
{f}.astype(np.float32)
{f} + {b}
{f} * {i}
{i} * 0.25 - {f}
np.add({f}, {f}, dtype=np.float64)
np.positive({f})
np.float32(2.5) * {f}
np.float32(0.5) * {i}
{u} * {f}
np.log({f})
np.cbrt({f})
np.piecewise({f:p}, [{=p} < 0, {=p} > 1], [-1.0, 1.0, 0.5])
np.ldexp({f}, 2)
np.interp({f}, np.arange(5), np.arange(5) * 0.5)
np.polyval([1, -2, 0.5], {f})
np.sinc({f})"""

INTEGERS = """\
{i} + {i}
{i} * {i}
{i} - {k}
{i} // 3
{i} % 7
{i} % -5
{i} ^ {i}
{i} & {i}
{i} | 1
{i} << 1
{i} >> 1
-{i}
~{i}
np.abs({i})
np.maximum({i}, {i})
np.minimum({i}, {k})
{i} ** 2
{i} // ({i} % 5 + 1)
{i} % ({i} % 4 + 2)
{i} / 8
{i}.astype(np.{t})
({f} * 4).astype(np.int16)
{f}.astype(np.int64)
np.gcd({i}, {i})
np.bitwise_count({i})
{b}.astype(np.{t})
{b} * {i}
np.where({b}, 1, {i})
np.where({i} > {k}, {i}, {i})
np.sign({i})
np.clip({i}, 2, 11)
{u} + {u}
{u} * {u}
{u} - {u}
{u} + 1
{u} << 3
{u} // 2
{u} >> 2
-{u}
~{u}
{u} + {i}
np.square({u})
np.left_shift({i}, {i} % 5)
np.right_shift({i}, {i} % 5)
np.floor_divide({i}, {k})
np.divmod({i}, 4)[1]
{b} + {b}
np.invert({u})
np.uint8(200) + {u}
np.int8(100) + {u}
{i} * np.int32(3)
({u} & 1) << ({u} & 3)
(({i} & 7) + 8) >> ({i} & 3)
np.minimum({u}.astype(np.int64) >> 1, 5)
np.maximum((-{u}).astype(np.int64), 8)
np.where(({u} & 3) > 1, {i}, 2)
({i} & 15) * 2 - 7
(~{b}).astype(np.{t}) + 1
np.abs({u}).astype(np.int64)
np.maximum({u} % 5, 3).astype(np.{t})"""

TRUTHS = """\
{f} > {f}
{f} <= {s}
{f} == {f}
{i} == {i}
{i} != {k}
{i} % 2 == 0
{u} < {u}
{u} > {i}
~{b}
{b} & {b}
{b} | ({f} > 0)
{b} ^ {b}
{b} == {b}
np.isnan({f})
np.isfinite({f})
np.signbit({f})
np.logical_and({f}, {i})
np.logical_not({r})
np.isclose({f}, {f})
np.isin({i}, {i1})
{f} == np.floor({f})
({f:p} > -1) & ({=p} < 1)"""

COMPLEX = """\
{z} * {z}
{z} + {f}
{z} - {z}
{z}.real
{z}.imag
np.abs({z})
np.conj({z})
{f} * 1j
{f} + 1j * {f}
{z} * (1 + 2j)
{z} / (2 - 1j)
np.exp({z} * 0.1)
{z} == {z}
{z}.sum({x})
{z}.mean({x})
np.cumsum({z}, axis={n})
np.where({b}, {z}, 0)
{z} * {z}.conj()
{z}[::-1]
{z}.astype(np.complex64)
np.angle({z})
-{z}"""

REDUCTIONS = """\
{r}.sum({x})
{r}.max({x})
{r}.min({x})
{f}.mean({x})
{i}.mean({x})
{f}.var({x})
{f}.std({x})
{f}.var(axis=0, ddof=1)
{r}.argmax({x})
{r}.argmin({x})
{b}.any({x})
{b}.all({x})
{b}.sum({x})
{b}.mean({x})
{b}.argmax({x})
np.count_nonzero({r})
np.count_nonzero({b}, {x})
({f} * 0.5).prod({x})
{i}.prod({x})
{u}.sum({x})
{u}.prod({x})
{u}.sum({x}, dtype=np.int64)
{f}.sum({x}, dtype=np.float64)
np.median({r}, {x})
np.percentile({f}, 30, {x})
np.quantile({f}, [0.25, 0.5], {x})
np.nansum({f}, {x})
np.nanmax({f}, {x})
np.nanmin({f}, {x})
np.nanmean({f}, {x})
np.nanstd({f}, {x})
np.nanargmax({f})
np.nanmedian({f}, {x})
np.ptp({r}, {x})
{f:p} - {=p}.mean(axis=0, keepdims=True)
{f:p} - {=p}.mean(axis=-1, keepdims=True)
{f:p} / ({=p}.max(axis=-1, keepdims=True) + 0.5)
{f2:p} - {=p}.sum(axis=1)[:, None]
{f2:p} == {=p}.max(axis=0)
np.linalg.norm({f1})
np.linalg.norm({f2}, axis=1)
np.average({f1:p}, weights=np.abs({=p}) + 1)
{r}.max({x}, initial=1)
{r}.sum({x}, where={b})
np.min({r}, axis={n}, keepdims=True)
np.add.reduce({r}, axis={n})
np.maximum.reduce({r}, axis={n})
np.bitwise_xor.reduce({i}, axis={n})
np.logical_or.reduce({r}, axis={n})
np.sum({f} * {f}, {x})
np.sum({f} > {s}, {x})
np.abs({f} - {f}).max({x})
(({f} - {f}) ** 2).sum({x})
np.exp({f} * 0.25).sum({x})
np.trace({r2})
{r3}.sum(axis=(0, 2))
{r3}.max(axis=(1, 2))
{r3}.argmax(axis=1)
{r2}.sum(axis=0).max()
{r2}.max(axis=1).sum()
{r}[::-1].argmax({x})
{r2}.T.sum({x})"""

SCANS = """\
np.cumsum({r}, axis={n})
np.cumsum({r})
np.cumsum({u})
np.cumsum({b}, axis={n})
np.cumsum({r}[::-1], axis={n})
np.cumsum({r}, axis={n})[::-1]
np.cumsum({r1})[-1]
np.cumsum({r1})[:3]
np.cumsum({r1}).max()
np.cumprod({f} * 0.5, axis={n})
np.cumprod({i}, axis={n})
np.maximum.accumulate({r}, axis={n})
np.minimum.accumulate({r}, axis={n})
np.minimum.accumulate({r1}[::-1])[::-1]
np.logical_or.accumulate({b1})
np.diff({r}, axis={n})
np.diff({r1}, n=2)
np.diff({r1}, prepend=0)
np.gradient({f1})
np.gradient({f2}, axis={n})
np.gradient({f1}, 0.5)
np.ediff1d({r1})
np.cumsum({f2}, axis=0) - {f2}
np.cumsum({f2:p}, axis=1) / 4 + {=p}
{f:p} - np.maximum.accumulate({=p}, axis={n})
np.cumsum(np.cumsum({r2}, axis=0), axis=1)
np.nancumsum({f1})
np.convolve({f1}, {f1}[:3])
np.convolve({f1}, np.array([0.25, 0.5, 0.25]), mode='same')
np.correlate({f1}, {f1}[:2], mode='valid')
np.trapezoid({f1})
np.add.reduceat({r1}, [0, 2])
np.lib.stride_tricks.sliding_window_view({r1}, 3).sum(axis=1)
np.lib.stride_tricks.sliding_window_view({r1}, 3).max(axis=-1)
np.lib.stride_tricks.sliding_window_view({f2}, (2, 2)).sum(axis=(2, 3))"""

ORDERS = """\
np.sort({r}, axis={n})
np.sort({a1})
np.sort({r1})[::-1]
np.sort({r1})[:2]
np.sort({r1})[-1]
np.sort({r2}, axis=1)[:, 0]
np.argsort({r}, axis={n}, kind='stable')
np.argsort(-{f1}, kind='stable')[:3]
np.argsort({b1}, kind='stable')
np.searchsorted(np.sort({r1}), {r})
np.searchsorted(np.sort({r1}), {r1}, side='right')
np.searchsorted(np.array([-1.0, 0.5, 2.0]), {f})
np.take_along_axis({r2:p}, np.argsort({=p}, axis=1, kind='stable'), axis=1)
np.take_along_axis({r2:p}, {=p}.argmax(axis=0)[None, :], axis=0)
np.partition({r1}, 2)[2]
np.partition({r2}, 1, axis=1)[:, 1]
np.unique({r1})
np.unique({i2})
np.unique({i1}, return_counts=True)[1]
np.unique({i1}, return_inverse=True)[1]
np.lexsort(({r1}, {r1}))
np.digitize({f1}, np.array([-1.0, 0.0, 1.5]))
np.intersect1d({i1}, {i1})
np.union1d({i1}, {i1})
np.setdiff1d({i1}, {i1})
{r1:p}[np.argsort({=p}, kind='stable')]
{r2:p}[np.argsort({=p}[:, 0], kind='stable')]
np.median({r2}, axis=0)
np.flip(np.sort({r}, axis={n}))"""

CHOICES = """\
{a1}[{b1}]
{a2}[{b2}]
{a2}[{b1}]
{a2}[:, {b1}]
{f1:p}[{=p} > {s}]
{r2:p}[{=p} > 0]
{r1:p}[{=p} != 0][:3]
np.compress({b1}, {a1})
np.extract({b}, {r})
{r}[{b}].sum()
{f1}[{f1} < {s}].max()
np.flatnonzero({b})
np.nonzero({b2})[1]
np.argwhere({b})
np.where({b1})[0]
np.where({r1})[0][:2]
{a1:p}[{i1} % len({=p})]
{a1:p}[{i2} % len({=p})]
{a1:p}[-1 - {i1} % len({=p})]
{a1}[{i1} % 3]
{a1}[{i1}]
{a2:p}[{i1} % len({=p})]
{a2:p}[:, {i1} % {=p}.shape[1]]
{a2:p}[{i1:q} % {=p}.shape[0], {=q} % {=p}.shape[1]]
{a2:p}[{i1} % {=p}.shape[0], 1:]
{a2:p}[{i1:q}[:, None] % {=p}.shape[0], {=q}[:3] % {=p}.shape[1]]
{a2:p}[{i1} % {=p}.shape[0], 0]
{a3:p}[:, {i1} % {=p}.shape[1]]
{r2:p}[{i1} % len({=p})].sum(axis=0)
{r2:p}[{i1} % len({=p})].max(axis=1)
{r1:p}[{i1} % len({=p})].sum()
np.take({a1:p}, {i1} % len({=p}))
np.take({a2:p}, {i1} % {=p}.shape[1], axis=1)
np.take({a1}, {i1}, mode='wrap')
np.take({a1}, {i1}, mode='clip')
np.choose({i} % 2, ({f}, {f}))
{a1:p}[np.arange(len({=p}))[::-1]]
{r2:p}[np.arange(len({=p})), {=p}.argmax(axis=1)]
{a2}[{k}]
{a1}[g]
{a2}[g]
{a2}[:, g]
{a2}[g, g]
{a3}[:, g]
{a2}[g[:, None], g[None, :2]]
{r1}[g].sum()
{r2}[g].max(axis=1)
{r2}[g][:, ::2].sum()
np.take({r1}, g) + 1
np.take({a2}, g, axis=1)
np.sort({r1}[g])
np.where({r1}[g] > {s}, 1, 2)
np.array([{a1}[q] for q in g])
np.array([{r2}[q].sum() for q in g])
np.cumsum({r1}[g])
{a2:p}[np.ix_({i1} % {=p}.shape[0], np.array([0, 1]))]"""

SHAPES = """\
{a2}.T
{a2}.T.copy()
{a}[::-1]
{a2}[:, ::-1]
{a2}[::2, 1:]
{a1}[1:]
{a1}[:-1]
{a1}[::-2]
{a1}[None, :]
{a1}[:, None]
{a2}[:, None, :]
{a2}[1:, :-1]
{a2}[-1]
{a2}[:, 0]
{a2}.reshape(-1)
{a2}.ravel()
{a2}.T.ravel()
{a2}.T.reshape(-1)
{a3:p}.reshape({=p}.shape[0], -1)
{a3:p}.reshape(-1, {=p}.shape[2])
{a1}.reshape(-1, 1)
np.transpose({a3}, (1, 2, 0))
{a3}.transpose(2, 0, 1)
{a3}.T
np.swapaxes({a3}, 0, 2)
np.moveaxis({a3}, 0, -1)
{a3}[:, ::-1, 1:]
{a3}[..., 0]
{a3}[-1]
{a3}[:, 1]
{a3}[::-1, :, ::-2]
np.rot90({a2})
np.rot90({a2}, 2)
np.flip({a})
np.flip({a2}, axis=1)
np.roll({a}, {k})
np.roll({a}, {k}, axis={n})
np.roll({a2}, (1, -1), axis=(0, 1))
np.pad({a1}, 2)
np.pad({a1}, (1, 2), mode='edge')
np.pad({a1}, 1, mode='reflect')
np.pad({a1}, 2, mode='wrap')
np.pad({a2}, ((1, 0), (0, 2)))
np.pad({f2}, 1, constant_values=0.5)
np.pad({a2}, 1, mode='edge')
np.pad({a2}, ((1, 1), (2, 0)), mode='symmetric')
np.concatenate(({a1}, {a1}))
np.concatenate(({a2}, {a2}), axis=1)
np.concatenate(({a2}, {a2}))
np.concatenate(({a1:p}[1:], {=p}[:1]))
np.stack(({a:p}, {=p}))
np.stack(({r}, {r}), axis=-1)
np.stack(({r}, {r}), axis=1)
np.vstack(({a}, {a}))
np.hstack(({a1}, {a}))
np.column_stack(({r1}, {r1}))
np.repeat({a1}, 2)
np.repeat({a2}, 3, axis=0)
np.repeat({a2}, 2, axis=1)
np.repeat({a1}, {i1} % 3)
np.tile({a1}, 2)
np.tile({a2}, (2, 1))
np.split({a1}, [1, 3])[1]
np.array_split({a1}, 3)[2]
np.array_split({a2}, 2, axis=1)[0]
np.broadcast_to({a1:p}, (3, {=p}.shape[0]))
np.expand_dims({a}, 1)
{a1}[{k}:]
{a1}[:{k}]
{a1}[{k}:-1:2]
np.diag({a1})
np.diagonal({a2})
np.triu({a2})
np.tril({a2}, -1)
{a}.copy()
np.zeros_like({a})
np.full_like({r}, 3)
np.append({a1}, {a1})
np.insert({a1}, 1, 0)
np.delete({a1}, 0)
np.delete({a2}, 1, axis=1)
np.meshgrid({r1}, {r1})[0]
np.arange(len({a}))
np.linspace(0, 1, len({a}))
np.eye({a1}.shape[0])
np.arange({k}, 9, 2)
np.ones({a2}.shape[::-1])
np.atleast_2d({a})
np.array([{f1}[0], {f1}[-1], {s}])
np.resize({a1}, 7)
np.flatnonzero({b})[::-1]
np.lib.stride_tricks.sliding_window_view({a1}, 3)
np.ascontiguousarray({a2}.T)
np.asfortranarray({a2})
np.vander({f1}, 3)
np.tri({a1}.shape[0])
np.block([[{f2:p}, {=p}], [{=p} * 2, -{=p}]])"""

PRODUCTS = """\
{f2} @ {f2}
{f2} @ {f2}.T
{f2:p}.T @ {=p}
{f2:p} @ {=p}.T
{f2} @ {f1}
{f1} @ {f1}
{f1} @ {f2}
{i2} @ {i2}.T
{u2} @ {u2}.T
{i2} @ {f1}
{z2} @ {z2}.T
{b2} @ {b2}.T
np.dot({r1}, {r2})
np.outer({r1}, {r1})
np.inner({f2}, {f2})
np.vdot({f1}, {f1})
np.einsum('ij,j->i', {f2}, {f1})
np.einsum('ij,ik->jk', {f2}, {f2})
np.einsum('ij,kj->ik', {f2}, {f2})
np.einsum('ij,ij->', {f2}, {f2})
np.einsum('ijk,jk->i', {f3}, {f2})
np.einsum('ijk->ki', {f3})
np.einsum('ij->ji', {a2})
np.einsum('ii->i', {r2:p} @ {=p}.T)
np.einsum('i,j->ji', {r1}, {r1})
np.einsum('ijk,k->ij', {f3}, {f1})
np.tensordot({f2}, {f2}, axes=1)
np.tensordot({f3}, {f2}, axes=([1, 2], [0, 1]))
np.kron({r1}, {r1})
np.kron({f2}[:2], {f2}[:2])
np.matmul({f3}, {f2})
np.matmul({f3}, {f2}.T)
{f3} @ {f1}
{r1:p}[:, None] * {r1}
{r1:p}[:, None] - {=p}
{f1:p}[:, None] > {=p}[None, :]
({f2:p}[:, None, :] - {=p}[None, :, :]).sum(axis=-1)
(({f2:p}[:, None, :] - {f2}[None, :, :]) ** 2).sum(axis=2)
np.abs({f1:p}[:, None] - {=p}).min(axis=1)
np.abs({f1:p}[:, None] - {f1}).argmin(axis=1)
({i1:p}[:, None] == {=p}).sum(axis=1)
({f2} @ {f2}.T).sum(axis=1)
np.maximum({f2} @ {f2}.T, 0)
np.linalg.matrix_power({f2}[:2, :2], 3)
np.bincount({i1} % 16, minlength=4)
np.bincount({i1} % 8, weights={f1}) + 0.0
np.bincount(np.abs({i1}) % 8)
np.histogram({f1}, bins=5, range=(-4, 4))[0]
np.histogram({f}, bins=np.array([-2.0, 0.0, 0.5, 3.0]))[0]
np.interp({f1}, np.sort({f1:p}), {=p})
np.cov({f1}, {f1})
np.corrcoef({f1}, {f1})[0, 1]"""

COMPREHENSIONS = """\
np.array([w * 0.5 for w in {f1}])
np.array([w * w - 1 for w in {r1}])
np.array([w.sum() for w in {r2}])
np.array([w.max() - w.min() for w in {f2}])
np.array([w[::-1] for w in {a2}])
np.array([w[w.argmax()] for w in {f2}])
np.array([np.sort(w)[0] for w in {f2}])
np.array([[p + q for q in {f1}] for p in {f1}])
np.array([[p * q for q in {r1}] for p in {r1}])
np.array([{f1:p}[q - 1] + {=p}[q] for q in range(len({=p}))])
np.array([{f1:p}[:q + 1].sum() for q in range(len({=p}))])
np.array([{f1:p}[max(q - 1, 0):q + 2].max() for q in range(len({=p}))])
np.array([w for w in {f1} if w > 0])
np.array([w if w > {s} else -w for w in {f1}])
np.array([p - q for p, q in zip({f1}, {f1})])
np.array([q * w for q, w in enumerate({f1})])
np.array([{f2:p}[q].dot({=p}[0]) for q in range({=p}.shape[0])])
np.array([{f2:p}[:, q].sum() for q in range({=p}.shape[1])])
np.array([int(w) % 3 for w in {f1}])
scaled({f})
scaled({f}, by=2.0)
centred({f2}, axis=1)
centred({f2})
both({f1}, {f1})[1]
both({f2}, {f2}, low={s})[0]
clamp(high=1.0, u={f})
compiled({f})
compiled({f1}, k=2)
first_above({f1}, {s})
halvings({s})"""

# How often a statement's form is of which table.
TABLES = ((FLOATS, 5), (INTEGERS, 4), (TRUTHS, 2), (COMPLEX, 1), (REDUCTIONS, 5), (SCANS, 3),
          (ORDERS, 2), (CHOICES, 4), (SHAPES, 5), (PRODUCTS, 3), (COMPREHENSIONS, 2))

# What is stored in place, `{w}` being an array of numbers that may be stored to.
STORES = """\
{w1}[1:] = {=w}[:-1]
{w1}[:-1] += {=w}[1:]
{w1}[1:-1] = ({=w}[2:] + {=w}[:-2]) * 0.5
{w}[:] = {=w}[::-1]
{w}[::2] = {s}
{w1}[{k} % len({=w})] = {s}
{w1}[{i1} % len({=w})] = {s}
{w1}[{i1:p} % len({=w})] = {=p} * 2
{w1}[{i1} % len({=w})] += 1
{w}[{=w} > {s}] = 1
{w}[{=w} < 0] *= -1
{w}[{b}] = 2
{w1}[{b1}] += {s}
{w2}[0] = {=w}[-1]
{w2}[:, 0] = {r1}
{w2}[1:, 1:] -= {=w}[:-1, :-1]
{w2}[:] = {=w}[:, ::-1]
{w2}[{i1} % len({=w})] = 0.5
{w2}[{i1} % len({=w}), 1] = {s}
{w2}[:, {k}] += {=w}[:, 0]
{w2} += {r1}
{w} *= 2
{w} -= {r}
{w}[...] = {r}
{w2}[::2, ::-1] = {r2}[::2]
{w3}[:, 0] = {=w}[:, 1]
{w3}[0] += {r2}
{w1}.sort()
{w1}[:] = np.sort({=w})[::-1]
np.add.at({w1}, {i1} % len({=w}), 1)
np.maximum({=w}, {s}, out={w})
np.add({=w}, {r}, out={w})
{w}.fill({k})
{w1}[2:], {=w}[:1] = {=w}[:-2] * 0.5, {s}
{w2}[[0, 1]] = {=w}[[1, 0]]
np.copyto({w}, {r})
{w1}[np.argsort({=w}, kind='stable')] = np.arange(len({=w}))
{w1}[::-1] = {r1}
{w1}[g] = {s}
{w1}[g] = {r1}
{w1}[g] += 1
{w2}[g] = {s}
{w2}[:, g] *= 2
{w2}[g, 0] = {r1}
np.add.at({w1}, g, {r1})
np.maximum.at({w1}, g, {k})"""
