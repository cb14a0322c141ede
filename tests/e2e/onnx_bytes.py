"""Small ONNX files, byte by byte: an encoder of the protobuf messages that the tests need (field numbers: onnx.proto)."""
import numpy as np

TYPES = {"f32": 1, "i32": 6, "i64": 7, "bool": 9, "f16": 10, "f64": 11, "bf16": 16}


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    """Encodes a number, bytes or text; a list gives a field for each element."""
    if isinstance(value, list):
        return b"".join(field(number, v) for v in value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else bytes(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def pairs(number, entries):
    """StringStringEntryProto, a dict."""
    return b"".join(field(number, field(1, k) + field(2, str(v))) for k, v in entries.items())


def tensor(name, array):
    """An initializer with its bytes in the file; uint16 are the bits of bf16."""
    a = np.asarray(array)
    kinds = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool", "float16": "f16", "uint16": "bf16"}
    kind = kinds[a.dtype.name]
    return field(1, list(a.shape)) + field(2, TYPES[kind]) + field(8, name) + field(9, a.tobytes())


def external(name, shape, location, offset=0):
    """An f32 initializer with its bytes in another file."""
    entries = {"location": location, "offset": offset, "length": 4 * int(np.prod(shape))}
    return field(1, list(shape)) + field(2, TYPES["f32"]) + field(8, name) + pairs(13, entries) + field(14, 1)


def value(name, dtype, dims):
    """An input or output: dims are numbers or names."""
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + field(2, shape)))


def attribute(name, v):
    """An integer, a text, a list of integers, a subgraph's bytes, or an array."""
    if isinstance(v, np.ndarray):
        return field(1, name) + field(5, tensor("", v)) + field(20, 4)
    number, kind = {int: (3, 2), str: (4, 3), list: (8, 7), bytes: (6, 5)}[type(v)]
    return field(1, name) + field(number, v) + field(20, kind)


def node(op, inputs, outputs, name="", scope=None, domain="", metadata=None, **attributes):
    """`scope`: the module's path, as torch.export writes it; `metadata`: a dict."""
    out = field(1, inputs) + field(2, outputs) + field(3, name) + field(4, op) + field(7, domain)
    out += field(5, [attribute(key, v) for key, v in attributes.items()])
    if scope:
        out += pairs(9, {"pkg.torch.onnx.name_scopes": str(["", *scope, name])})
    return out + pairs(9, metadata or {})


def function(name, inputs, outputs, nodes, domain="local", opset=18):
    ends = field(4, list(inputs)) + field(5, list(outputs))
    return field(1, name) + ends + field(7, list(nodes)) + field(9, field(2, opset)) + field(10, domain)


def graph(nodes, inputs, outputs, initializers=(), infos=()):
    """`infos`: the file's types of values between nodes."""
    ends = field(11, list(inputs)) + field(12, list(outputs)) + field(13, list(infos))
    return field(1, list(nodes)) + field(2, "main") + field(5, list(initializers)) + ends


def model(nodes, inputs, outputs, initializers=(), opset=18, infos=(), functions=()):
    sets = field(2, opset) if not functions else [field(2, opset), field(1, "local") + field(2, 1)]
    return field(1, 10) + field(7, graph(nodes, inputs, outputs, initializers, infos)) + field(8, sets) + field(25, list(functions))


def linear(n_in=4, n_out=3, weight=None, batch=2):
    """logits = x · weight."""
    weight = weight or tensor("weight", np.arange(n_in * n_out, dtype=np.float32).reshape(n_in, n_out) / 10)
    return model(
        [node("MatMul", ["x", "weight"], ["logits"], "mm")],
        [value("x", "f32", [batch, n_in])],
        [value("logits", "f32", [batch, n_out])],
        [weight],
    )
