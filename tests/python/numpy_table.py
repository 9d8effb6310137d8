"""What docs/coverage.md asks about: NumPy's functions by groups, each with a call to begin from.

A line is a call with the arguments that it must have; behind `|` stand values for others, apart by
`;` and by ` / `. Those of arguments that mean the same everywhere are in ALWAYS. The operands: x, y
float64 of (3, 4), i, j int64, b bool, c complex128, q float32 and a nan in r, all of that shape; s,
t matrices of (3, 3); v, w vectors of 6, k indexes of 4, p positive and sorted; n is 3. m is the
mask x > 0, z an array like NumPy's result.
"""

ALWAYS = {
    "axis": "0 / -1 / None / (0, 1)",
    "keepdims": "True / False",
    "dtype": "np.float64 / 'c16' / np.float32",
    "out": "z",
    "where": "True / m",
    "order": "'C' / 'F' / 'A' / 'K'",
    "casting": "'same_kind' / 'unsafe' / 'no'",
    "subok": "True / False",
    "copy": "True / False / None",
    "like": "None / x",
    "device": "None / 'cpu'",
    "signature": "'dd->d' / 'd->d'",
    "imag": "1",
    "initial": "2",
    "ddof": "1",
    "correction": "1",
    "rowvar": "False",
}

# Arguments that a signature hides behind **keywords or <no value>.
HIDDEN = {
    "clip": "where casting order dtype subok signature",
    "einsum": "dtype order casting",
    "pad": "constant_values end_values stat_length reflect_type",
    "ndarray.sum": "keepdims initial where", "ndarray.prod": "keepdims initial where",
    "ndarray.max": "keepdims initial where", "ndarray.min": "keepdims initial where",
    "ndarray.mean": "keepdims where", "ndarray.all": "keepdims where",
    "ndarray.any": "keepdims where", "ndarray.std": "ddof keepdims where mean",
    "ndarray.var": "ddof keepdims where mean", "ndarray.argmax": "keepdims",
    "ndarray.argmin": "keepdims", "ndarray.round": "", "ndarray.clip": "casting dtype where",
    "ufunc.reduce": "keepdims initial where",
    "ndarray.astype": "order casting subok copy", "ndarray.reshape": "order copy",
}

# Element-wise functions: the same keywords, so a line of names is enough.
# Behind any number of operands the other arguments are given by name.
OF_MANY = ("np.einsum", "np.meshgrid", "np.broadcast_arrays")

INTO = (" | where=True / (m, out=z); dtype=np.float64 / 'c16' / bool / np.int32 / np.uint8"
        "; signature=-")
ELEMENT_WISE = {
    "basic math and logic": """
        abs absolute sign reciprocal negative positive square fabs logical_not | add subtract
        multiply divide true_divide mod remainder fmod floor_divide power float_power minimum
        maximum fmin fmax logical_and logical_or logical_xor hypot heaviside divmod
    """,
    "comparisons": "| less less_equal equal not_equal greater greater_equal",
    "logs and exponents": """
        sqrt cbrt exp exp2 expm1 log log10 log2 log1p | logaddexp logaddexp2
    """,
    "rounding": "trunc rint floor ceil",
    "trig": """
        cos arccos cosh arccosh sin arcsin sinh arcsinh tan arctan tanh arctanh rad2deg deg2rad
        radians degrees | arctan2
    """,
    "bits and integers": """
        invert bitwise_not bitwise_count | bitwise_and bitwise_or bitwise_xor left_shift right_shift
        gcd lcm
    """,
    "floats": """
        isnan isinf isfinite signbit conjugate conj spacing modf | copysign nextafter
    """,
}

CALLS = {
    "types": "\n".join(f"np.{name}(2)" + " | imag=-" * name.startswith("complex") for name in """
        bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64
        complex128 bool_ intp
    """.split()),
    "constructors and views": """
        np.empty((2, 3)); np.zeros((2, 3)); np.ones((2, 3))
        np.full((2, 3), 2.5) | fill_value=x[:2, :3]
        np.empty_like(x) | shape=(2, 3)
        np.zeros_like(x) | shape=(2, 3)
        np.ones_like(x) | shape=(2, 3)
        np.full_like(x, 2) | shape=(2, 3)
        np.arange(3) | stop=9; step=2
        np.linspace(0, 1) | num=5; endpoint=False; retstep=True; axis=0
        np.logspace(0, 2) | num=5; endpoint=False; base=2.0; axis=0
        np.geomspace(1, 100) | num=5; endpoint=False; axis=0
        np.array(x) | ndmin=3; ndmax=2; dtype='f4' / int
        np.asarray(x); np.asanyarray(x); np.ascontiguousarray(x); np.asfortranarray(x); np.copy(x)
        np.asarray_chkfinite(x)
        np.require(x) | requirements='C'
        np.frombuffer(x) | count=2; offset=8
        np.fromiter(v, float) | count=2
        np.fromfunction(np.add, (2, 3))
        np.transpose(x) | axes=(1, 0)
        np.permute_dims(x) | axes=(1, 0)
        np.matrix_transpose(x)
        np.ravel(x); np.eye(n) | M=4; k=1
        np.identity(n); np.diag(v) | k=1
        np.diagflat(v) | k=-1
        np.tri(n) | M=4; k=1
        np.tril(x) | k=1
        np.triu(x) | k=-1
        np.vander(v) | N=3; increasing=True
        np.meshgrid(v, w) | sparse=True; indexing='ij'
        np.indices((2, 3)) | sparse=True
        np.mgrid[:n, 0:1:5j]; np.ogrid[:n, 0:1:5j]
        np.s_ := v[np.s_[1:n]]
        np.index_exp := v[np.index_exp[1:n]]
        np.r_[v, 1, 2:n]; np.c_[v, w]
        np.ix_(k, k)
        np.ndindex := np.array([i + j for i, j in np.ndindex(2, 3)])
        np.ndenumerate := np.array([a for i, a in np.ndenumerate(x)])
        np.nditer := np.array([a + 1 for a in np.nditer(x)]); np.ndarray((2, 3)).shape
        np.block([[s, t], [t, s]])
        np.bartlett(n); np.blackman(n); np.hamming(n); np.hanning(n); np.kaiser(n, 2.0)
    """,
    "array properties": """
        np.size(x) | axis=0 / -1 / None
        np.ndim(x); np.shape(x)
        np.result_type(x, i) == np.float64; np.promote_types(x.dtype, i.dtype) == np.float64
        np.can_cast(i.dtype, x.dtype) | casting='no' / 'safe' / 'unsafe'
        np.min_scalar_type(10) == np.uint8; np.common_type(x, i) == np.float64
        np.iscomplexobj(x); np.isrealobj(x); np.isscalar(n); np.iterable(x); np.isfortran(x)
        np.issubdtype(x.dtype, np.floating); np.isdtype(x.dtype, 'real floating')
        np.finfo := np.finfo(x.dtype).eps
        np.iinfo := np.iinfo(np.int8).max
        np.broadcast_shapes((3, 1), (4,))
        np.shares_memory(x, y) | max_work=None
        np.may_share_memory(x, y) | max_work=None
    """,
    "reductions": """
        np.sum(x); np.prod(x); np.mean(x); np.all(x); np.any(x)
        np.min(x) | where=True; initial=2
        np.max(x) | where=True; initial=2
        np.amin(x) | where=True; initial=2
        np.amax(x) | where=True; initial=2
        np.argmin(x) | axis=0 / -1 / None
        np.argmax(x) | axis=0 / -1 / None
        np.count_nonzero(x); np.ptp(x)
        np.std(x) | mean=np.mean(x, axis=None, keepdims=True)
        np.var(x) | mean=np.mean(x, axis=None, keepdims=True)
        np.median(x) | overwrite_input=False
        np.average(x) | weights=x * x; returned=True
        np.percentile(x, 30) | overwrite_input=False; method='linear' / 'lower'; weights=None
        np.quantile(x, 0.3) | overwrite_input=False; method='linear' / 'lower'; weights=None
        np.nansum(r); np.nanprod(r); np.nanmean(r)
        np.nanmin(r) | where=True; initial=2
        np.nanmax(r) | where=True; initial=2
        np.nanstd(r) | mean=np.nanmean(r, axis=None, keepdims=True)
        np.nanvar(r) | mean=np.nanmean(r, axis=None, keepdims=True)
        np.nanargmin(r) | axis=0 / -1 / None
        np.nanargmax(r) | axis=0 / -1 / None
        np.nanmedian(r) | overwrite_input=False
        np.nanpercentile(r, 30) | overwrite_input=False; method='linear'; weights=None
        np.nanquantile(r, 0.3) | overwrite_input=False; method='linear'; weights=None
    """,
    "scans": """
        np.cumsum(x) | axis=0 / -1 / None
        np.cumprod(x) | axis=0 / -1 / None
        np.nancumsum(r) | axis=0 / -1 / None
        np.nancumprod(r) | axis=0 / -1 / None
        np.cumulative_sum(v) | axis=0 / None; include_initial=True
        np.cumulative_prod(v) | axis=0 / None; include_initial=True
    """,
    "products": """
        np.dot(s, t); np.vdot(x, y); np.inner(s, t); np.outer(v, w)
        np.matmul(s, t) | axes=[(0, 1), (0, 1), (0, 1)]; axis=-; keepdims=-; signature='dd->d'
        np.vecdot(x, y) | axes=[0, 0, ()]; axis=0 / -1
        np.matvec(s, s[0]) | axes=[(0, 1), (0,), (0,)]; axis=-; keepdims=-
        np.vecmat(s[0], s) | axes=[(0,), (0, 1), (0,)]; axis=-; keepdims=-
        np.tensordot(s, t) | axes=1 / ([0], [1]) / 0
        np.kron(s, t)
        np.cross(s, t) | axisa=0; axisb=0; axisc=0; axis=0 / -1
        np.einsum('ij,jk->ik', s, t) | optimize=True / False / 'greedy'; dtype='f8' / 'c16'
        np.einsum of one := np.einsum('ii', s) + np.einsum('ij->j', x)[0] + np.einsum('ji->ij', s)
        np.einsum of stacks := np.einsum('...j,...j', x, y)
        np.einsum of three := np.einsum('ij,jk,kl->li', s, t, s)
    """,
    "choices": """
        np.where(m, x, y); np.select([m, x < -1], [x, y]) | default=5
        np.choose(k % 2, [k, -k]) | mode='raise' / 'wrap' / 'clip'
        np.clip(x) | min=0; max=2; a_min=(0, a_max=None) / (0, a_max=2); a_max=(0, a_min=None); \
where=True / (m, out=z)
        np.compress(m[0], x) | axis=0 / 1 / None
        np.extract(m, x); np.piecewise(v, [v > 0, v < 0], [1, 2])
        np.nonzero(x); np.flatnonzero(x); np.argwhere(x)
        np.take(x, k) | axis=0 / 1 / None; mode='raise' / 'wrap' / 'clip'
        np.take_along_axis(i, i % 3, 0) | axis=0 / None
        np.isin(i, k) | assume_unique=True; invert=True; kind='sort' / 'table' / None
        np.diagonal(x) | offset=1; axis1=(1, axis2=0); axis2=(0, axis1=1)
        np.trace(x) | offset=1; axis1=(1, axis2=0); axis2=(0, axis1=1)
        np.unravel_index(k, (3, 4)); np.ravel_multi_index((k % 3, k), (3, 4)) | mode='wrap' / 'clip'
        np.diag_indices(n) | ndim=3
        np.diag_indices_from(s); np.tril_indices(n) | k=1; m=4
        np.triu_indices(n) | k=1; m=4
        np.tril_indices_from(x) | k=1
        np.triu_indices_from(x) | k=1
        np.mask_indices(n, np.triu) | k=1
    """,
    "stores": """
        np.put(x, k, v) | mode='raise' / 'wrap' / 'clip'
        np.place(x, m, v); np.putmask(x, m, v); np.copyto(x, y); np.fill_diagonal(s, 3) | wrap=True
        np.put_along_axis(i, i % 3, 7, 0) | axis=0 / None
    """,
    "shapes": """
        np.reshape(x, (4, 3)); np.squeeze(x[None]) | axis=0 / None
        np.expand_dims(x, 1) | axis=0 / -1 / (0, 1)
        np.moveaxis(x, 0, 1); np.swapaxes(x, 0, 1); np.rollaxis(x, 1) | start=0
        np.atleast_1d(x); np.atleast_2d(v); np.atleast_3d(x)
        np.broadcast_to(v, (2, 6)); np.broadcast_arrays(x, x[0]); np.resize(x, (5, 4))
        np.lib.stride_tricks.sliding_window_view(x, (2, 3)) | axis=(0, 1) / (1, 1); writeable=True
        np.flip(x); np.fliplr(x); np.flipud(x)
        np.roll(x, 2) | shift=(1, 2); axis=0 / -1 / None
        np.rot90(x) | k=2; axes=(1, 0)
        np.repeat(x, 2) | axis=0 / -1 / None
        np.tile(x, 2)
        np.pad(x, 1) | mode='edge' / 'empty' / 'linear_ramp' / 'maximum' / 'mean' / 'median' / \
'minimum' / 'reflect' / 'symmetric' / 'wrap'; pad_width=((1, 2), (0, 1)) / (2, 1) / [1]; \
constant_values=2 / (1, 2); end_values=(5, mode='linear_ramp') / (6, mode='linear_ramp'); \
stat_length=(2, mode='mean') / (1, mode='maximum'); reflect_type=('odd', mode='reflect')
        np.concatenate((x, y)) | axis=0 / -1 / None
        np.concat((x, y)) | axis=0 / -1 / None
        np.stack((x, y)) | axis=0 / -1
        np.vstack((x, y)); np.hstack((x, y)); np.dstack((x, y)); np.column_stack((x, y))
        np.unstack(x) | axis=0 / -1
        np.append(x, y) | axis=0 / -1 / None
        np.insert(x, 1, 5) | axis=0 / -1 / None
        np.delete(x, 1) | axis=0 / -1 / None
        np.split(x, 3) | axis=0; indices_or_sections=[1, 2]
        np.array_split(v, 4) | axis=0; indices_or_sections=[1, 2]
        np.hsplit(x, 2); np.vsplit(x, 3); np.dsplit(x[:, :, None], 1)
        np.trim_zeros(k) | trim='f' / 'b'; axis=None
    """,
    "functions along axes": """
        np.apply_along_axis(np.sum, 0, x); np.apply_over_axes(np.sum, x, (0, 1))
        np.vectorize(np.sin)(x)[0]
    """,
    "tests": """
        np.isclose(x, y) | rtol=0.5; atol=0.5; equal_nan=True
        np.allclose(x, y) | rtol=0.5; atol=0.5; equal_nan=True
        np.array_equal(x, y) | equal_nan=True
        np.array_equiv(x, x[0]); np.isreal(c); np.iscomplex(c); np.isposinf(r); np.isneginf(r)
    """,
    "parts and special functions": """
        np.real(c); np.imag(c); np.angle(c) | deg=True
        np.real_if_close(c) | tol=10
        np.ldexp(x, j) | where=True / (m, out=z); dtype=-; signature=-
        np.frexp(x) | where=True / (m, out=z); dtype=-; signature=-
        np.sinc(x); np.i0(x); np.fix(x); np.round(x) | decimals=1 / -1
        np.around(x) | decimals=1 / -1
        np.nan_to_num(r) | nan=2.5; posinf=3.0; neginf=4.0
        np.unwrap(v) | discont=4.0; period=2.0; axis=0
    """,
    "differences and slopes": """
        np.diff(x) | n=2; axis=0 / -1; prepend=0; append=1
        np.ediff1d(v) | to_end=1; to_begin=2
        np.gradient(x) | edge_order=2
        np.trapezoid(x) | x=x; dx=2.0; axis=0
        np.interp(v, p, w) | left=0.5; right=0.5; period=3.0
    """,
    "searches, counts and sets": """
        np.searchsorted(p, v) | side='right'; sorter=[0, 1, 2, 3, 4, 5]
        np.digitize(v, p) | right=True
        np.bincount(k) | weights=v[:4]; minlength=9
        np.histogram(v) | bins=3 / [0.0, 0.5, 1.0]; range=(-1, 1); density=True; weights=w
        np.histogram_bin_edges(v) | bins=3; range=(-1, 1); weights=w
        np.histogram2d(v, w) | bins=3; range=[[-1, 1], [-1, 1]]; density=True; weights=v
        np.histogramdd((v, w)) | bins=3; range=[[-1, 1], [-1, 1]]; density=True; weights=v
        np.sort(x) | kind='stable'; order=None; stable=True; axis=0 / -1 / None
        np.argsort(x) | kind='stable'; order=None; stable=True; axis=0 / -1 / None
        np.lexsort((v, w)) | axis=0
        np.partition(p, 2) | axis=0 / None; kind='introselect'; order=None
        np.argpartition(p, 2) | axis=0 / None; kind='introselect'; order=None
        np.sort_complex(c[0])
        np.unique(i) | return_index=True; return_inverse=True; return_counts=True; axis=0 / None; \
equal_nan=True; sorted=True
        np.unique_values(i); np.unique_counts(i); np.unique_inverse(i); np.unique_all(i)
        np.intersect1d(k, i) | assume_unique=False; return_indices=True
        np.union1d(k, i); np.setdiff1d(k, i) | assume_unique=False
        np.setxor1d(k, i) | assume_unique=False
        np.packbits(b) | axis=0 / None; bitorder='little'
        np.unpackbits(np.uint8(k)) | axis=0 / None; count=3; bitorder='little'
    """,
    "statistics and signals": """
        np.cov(x) | y=y; rowvar=False; bias=True; fweights=k; aweights=k
        np.corrcoef(x) | y=y; rowvar=False
        np.convolve(v, w) | mode='same' / 'valid'
        np.correlate(v, w) | mode='same' / 'full'
        np.polyval(v, x); np.polyadd(v, w); np.polysub(v, w); np.polymul(v, w); np.polyder(v) | m=2
        np.polyint(v) | m=2; k=3
        np.polydiv(v, w[:2]); np.poly(v); np.roots(v); np.polyfit(p, v, 2) | rcond=None; full=False\
; w=p; cov=False
    """,
    "linalg": """
        np.linalg.norm(x) | ord=None / 'fro' / 1 / np.inf / 'nuc' / 2; axis=0 / (0, 1)
        np.linalg.vector_norm(x) | ord=1 / 2 / np.inf; axis=0 / None
        np.linalg.matrix_norm(x) | ord='fro' / 1 / np.inf / 'nuc' / 2
        np.linalg.solve(s, t); np.linalg.inv(s); np.linalg.det(s); np.linalg.slogdet(s)
        np.linalg.cholesky(np.eye(3) * 4) | upper=True
        np.linalg.qr(s) | mode='r'
        np.linalg.eigh(s + s.T) | UPLO='U'
        np.linalg.eigvalsh(s + s.T) | UPLO='U'
        np.linalg.eig(s); np.linalg.eigvals(s)
        np.linalg.svd(s) | full_matrices=False; compute_uv=False; hermitian=False
        np.linalg.svdvals(s); np.linalg.lstsq(s, t) | rcond=0.1
        np.linalg.matrix_power(s, 3) | n=-1 / 0
        np.linalg.pinv(s) | rcond=0.1; hermitian=False; rtol=0.1
        np.linalg.cond(s) | p=1
        np.linalg.matrix_rank(s) | tol=0.1; hermitian=False; rtol=0.1
        np.linalg.multi_dot((s, t, s)); np.linalg.tensorsolve(s, s[0]) | axes=None
        np.linalg.tensorinv(s, 1)
        np.linalg.cross(s, t) | axis=0 / -1
        np.linalg.outer(v, w); np.linalg.matmul(s, t); np.linalg.tensordot(s, t) | axes=1
        np.linalg.vecdot(x, y) | axis=0 / -1
        np.linalg.diagonal(x) | offset=1
        np.linalg.trace(x) | offset=1
        np.linalg.matrix_transpose(x)
    """,
    "methods of element-wise functions": """
        np.add.reduce(x); np.add.accumulate(x) | axis=0 / -1
        np.add.reduceat(x, [0, 2]) | axis=0 / -1
        np.add.outer(v, w); np.add.at(x, 0, 1)
    """,
    "methods of arrays": """
        x.all(); x.any(); x.argmax() | axis=0 / -1 / None
        x.argmin() | axis=0 / -1 / None
        p.argpartition(2) | axis=0 / None; kind='introselect'; order=None
        x.argsort() | kind='stable'; order=None; stable=True; axis=0 / -1 / None
        x.astype('f4'); x.byteswap() | inplace=False
        (k % 2).choose((k, -k)) | mode='raise' / 'wrap' / 'clip'
        x.clip(-1, 1) | min=0; max=1; where=True / (m, out=z)
        x.compress(m[0]) | axis=0 / 1 / None
        c.conj(); c.conjugate(); x.copy()
        x.cumprod() | axis=0 / -1 / None
        x.cumsum() | axis=0 / -1 / None
        x.diagonal() | offset=1; axis1=(1, axis2=0); axis2=(0, axis1=1)
        s.dot(t); x.fill(3); x.flatten(); v[:1].item(); x.max() | where=True
        x.mean(); x.min() | where=True
        x.nonzero(); p.partition(2) | axis=0; kind='introselect'; order=None
        x.prod(); x.put(k, v) | mode='raise' / 'wrap' / 'clip'
        x.ravel(); x.repeat(2) | axis=0 / -1 / None
        x.reshape(4, 3); x.round() | decimals=1
        p.searchsorted(v) | side='right'; sorter=[0, 1, 2, 3, 4, 5]
        x.sort() | kind='stable'; order=None; stable=True; axis=0 / -1
        x[None].squeeze() | axis=0 / None
        x.std() | mean=np.mean(x, axis=None, keepdims=True)
        x.sum(); x.swapaxes(0, 1); x.take(k) | axis=0 / 1 / None; mode='raise' / 'wrap' / 'clip'
        x.tolist(); x.trace() | offset=1; axis1=(1, axis2=0); axis2=(0, axis1=1)
        x.transpose() | axes=(1, 0)
        x.var() | mean=np.mean(x, axis=None, keepdims=True)
        x.view(np.int64)
    """,
    "attributes of arrays": """
        x.T; x.mT; x.shape; x.ndim; x.size; x.dtype == np.float64; x.itemsize; x.nbytes; c.real
        c.imag; x.flat[3]; x.strides; x.flags.c_contiguous; x.device; x.base
    """,
    "constants": """
        np.pi; np.e; np.inf; np.nan; np.euler_gamma; x[np.newaxis]
    """,
    "math": "\n".join(f"math.{name}(0.5)" for name in """
        acos asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor
        gamma isfinite isinf isnan lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh
        trunc ulp frexp
    """.split()) + """
        math.acosh(1.5); math.atan2(0.5, 2); math.copysign(0.5, -1); math.fmod(7.5, 2)
        math.hypot(3, 4); math.pow(2, 0.5); math.gcd(12, 18); math.lcm(4, 6); math.comb(5, 2)
        math.factorial(5); math.perm(5, 2); math.isqrt(17); math.ldexp(0.5, 3); math.pi; math.tau
        math.dist((1, 2), (3, 4)); math.fsum([1, 2]); math.prod([1, 2]) | start=2
        math.isclose(1, 1.5) | rel_tol=0.5; abs_tol=0.5
        math.nextafter(1.0, 2.0) | steps=-
        math.remainder(7.0, 2.0)
    """,
}

# What may stand in the column of differences, as it stands there: docs/differences.md says why.
DOCUMENTED = (
    r"(np|np\.linalg|ndarray)\.diagonal: .*a copy",
    r"np\.lib\.stride_tricks\.sliding_window_view: .*a copy",
    r"(np|ndarray)\.(real|imag): .*a copy",
    r"np\.\w*split: .*a tuple",
    r"(np|ndarray)\.(arg)?partition: .*[Nn]ot equal",  # in another order
)
