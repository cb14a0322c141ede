"""Just enough of protobuf's wire format to change names and the order of nodes in an ONNX file."""

MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_NAME, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO = 1, 2, 5, 11, 12, 13
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_METADATA = 1, 2, 3, 9
VALUE_NAME, TENSOR_NAME, ENTRY_VALUE = 1, 8, 2


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def fields(data):
    """(number, wire type, value) of each field; the value of a submessage or string is its bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = read_varint(data, at)
        else:
            size, at = (8, at) if kind == 1 else (4, at) if kind == 5 else read_varint(data, at)
            value, at = data[at : at + size], at + size
        yield number, kind, value


def change(data, changes):
    """The message with the function changes[number] applied to every such field's bytes."""
    out = bytearray()
    for number, kind, value in fields(data):
        out += write_varint(number << 3 | kind)
        if kind == 0:
            out += write_varint(value)
            continue
        if number in changes:
            value = changes[number](value)
        out += (write_varint(len(value)) if kind == 2 else b"") + value
    return bytes(out)


def rename(model, value_name, node_name, scope=lambda s: s):
    """The bytes of a model with other names; each function maps a name's text to another."""

    def text(f):
        return lambda data: f(data.decode()).encode()

    def within(**by_name):
        changes = {globals()[key]: f for key, f in by_name.items()}
        return lambda data: change(data, changes)

    value = text(lambda s: value_name(s) if s else s)
    entry = within(ENTRY_VALUE=text(scope))
    node = within(NODE_INPUT=value, NODE_OUTPUT=value, NODE_NAME=text(node_name), NODE_METADATA=entry)
    info = within(VALUE_NAME=value)
    graph = within(
        GRAPH_NODE=node,
        GRAPH_NAME=text(node_name),
        GRAPH_INITIALIZER=within(TENSOR_NAME=value),
        GRAPH_INPUT=info,
        GRAPH_OUTPUT=info,
        GRAPH_VALUE_INFO=info,
    )
    return change(model, {MODEL_GRAPH: graph})


def names_in(node, number):
    return [value.decode() for n, _, value in fields(node) if n == number and value]


def sorted_anew(nodes, choose):
    """The nodes in another order in which producers come before readers."""
    maker = {name: i for i, node in enumerate(nodes) for name in names_in(node, NODE_OUTPUT)}
    needs = [{maker[n] for n in names_in(node, NODE_INPUT) if n in maker} for node in nodes]
    readers = [[j for j, need in enumerate(needs) if i in need] for i in range(len(nodes))]
    ready, order = [i for i, need in enumerate(needs) if not need], []
    while ready:
        at = ready.pop(choose(len(ready)))
        order.append(nodes[at])
        for j in readers[at]:
            needs[j].remove(at)
            if not needs[j]:
                ready.append(j)
    return order


def reorder(model, choose):
    """The bytes of a model with its nodes in another valid order: choose(n) picks the next of n."""

    def graph(data):
        nodes = [value for number, _, value in fields(data) if number == GRAPH_NODE]
        order = iter(sorted_anew(nodes, choose))
        return change(data, {GRAPH_NODE: lambda _: next(order)})

    return change(model, {MODEL_GRAPH: graph})
