"""Models with features that the tiny set lacks: recurrent operators, dropout, functions, control flow."""
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F

from zoo import Case, classifier, image, next_token, register, tokens
from zoo_tiny import Block, GPT, Recurrent

RECURRENT, DROPOUT, CONTROL = {}, {}, {}
recurrent, dropout, control = register(RECURRENT), register(DROPOUT), register(CONTROL)


# ---- recurrent networks ----


def recurrent_case(kind, width, layers, **options):
    return Case(Recurrent(kind, width, layers, **options), tokens(50, 4, 12), next_token(50))


@recurrent
def gru():
    return recurrent_case(nn.GRU, 40, 2)


@recurrent
def rnn():
    return recurrent_case(nn.RNN, 40, 2)


@recurrent
def rnn_relu():
    return recurrent_case(nn.RNN, 24, 1, nonlinearity="relu")


@recurrent
def gru_both():
    return recurrent_case(nn.GRU, 24, 2, bidirectional=True)


@recurrent
def lstm_both():
    return recurrent_case(nn.LSTM, 24, 2, bidirectional=True)


# ---- dropout ----


class DropoutBlock(Block):
    """A transformer layer with dropout on its attention's weights and on both branches."""

    def __init__(self, width, heads, p):
        super().__init__(width, heads)
        self.attention_drop = nn.Dropout(p)
        self.drop = nn.Dropout(p)

    def attention(self, x):
        batch, length, width = x.shape
        head = width // self.heads
        qkv = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, head).transpose(1, 2) for t in qkv)
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        scores = (q @ k.transpose(2, 3)) * head**-0.5
        weights = scores.masked_fill(~causal, float("-inf")).softmax(-1)
        y = self.attention_drop(weights) @ v
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.drop(self.attention(self.ln1(x)))
        return x + self.drop(self.out(F.gelu(self.fc(self.ln2(x)))))


class DropoutGPT(GPT):
    """A GPT with dropout on the embedding and in every layer."""

    def __init__(self, vocabulary, length, width, heads, layers, p):
        super().__init__(vocabulary, length, width, heads, 0)
        self.drop = nn.Dropout(p)
        self.blocks = nn.ModuleList(DropoutBlock(width, heads, p) for _ in range(layers))

    def forward(self, input_ids):
        x = self.drop(self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1])))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


@dropout
def gpt_dropout():
    module = DropoutGPT(96, 16, 48, 4, 3, 0.1)
    return Case(module, tokens(96, 4, 16), next_token(96), dropout=True)


@dropout
def mlp_dropout():
    layers = [nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 10)]
    case = classifier(nn.Sequential(*layers), 16, 32, name="x")
    case.dropout = True
    return case


# ---- functions and control flow: the graph as text, the same computation in PyTorch ----

HEADER = '<ir_version: 8, opset_import: ["": 17, "local": 1]>'


def writer(text):
    """A function that makes the model of a text, with the module's parameters as initializers."""

    def write(module):
        model = onnx.parser.parse_model(HEADER + text)
        for name, p in module.named_parameters():
            array = p.detach().numpy()
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        onnx.checker.check_model(model)
        return model

    return write


class Parameters(nn.Module):
    """A module of plain parameters, given by their shapes."""

    def __init__(self, **shapes):
        super().__init__()
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.zeros(shape)))


FUNCTIONS = """
functions (float[16,16] x) => (float[16,10] logits)
{
    h = local.Twice <slope = 0.2> (x, w1, b1, w2, b2)
    g = local.Twice <slope = 0.05> (h, w1, b1, w3, b3)
    s = Add (h, g)
    logits = local.Linear (s, w4, b4)
}
<domain: "local", opset_import: ["": 17]>
Linear (x, w, b) => (y)
{
    t = Transpose <perm = [1, 0]> (w)
    p = MatMul (x, t)
    y = Add (p, b)
}
<domain: "local", opset_import: ["": 17, "local": 1]>
Twice <slope> (x, w1, b1, w2, b2) => (y)
{
    h = local.Linear (x, w1, b1)
    a = LeakyRelu <alpha: float = @slope> (h)
    g = local.Linear (a, w2, b2)
    y = LeakyRelu <alpha: float = @slope> (g)
}
"""


class Functions(Parameters):
    """Calls of nested functions, one of them with an attribute; b1 and w1 are used twice."""

    def __init__(self):
        wide, narrow = (24, 16), (16, 24)
        super().__init__(w1=wide, b1=24, w2=narrow, b2=16, w3=narrow, b3=16, w4=(10, 16), b4=10)

    def twice(self, x, w, b, slope):
        h = F.leaky_relu(F.linear(x, self.w1, self.b1), slope)
        return F.leaky_relu(F.linear(h, w, b), slope)

    def forward(self, x):
        h = self.twice(x, self.w2, self.b2, 0.2)
        g = self.twice(h, self.w3, self.b3, 0.05)
        return F.linear(h + g, self.w4, self.b4)


@control
def functions():
    case = classifier(Functions(), 16, 16, name="x")
    case.write = writer(FUNCTIONS)
    return case


BRANCHES = """
branches (float[8,16] x) => (float[8,10] logits)
<int64 zero = {0}, int64 four = {4}, bool never = {0}>
{
    shape = Shape (x)
    batch = Gather <axis = 0> (shape, zero)
    is_large = Greater (batch, four)
    h = If (is_large) <
        then_branch = large () => (float[8,24] y) {
            p = Gemm <transB = 1> (x, w1, b1)
            y = Tanh (p)
        },
        else_branch = small () => (float[8,24] y) {
            p = Gemm <transB = 1> (x, w1, b1)
            y = Relu (p)
        }
    >
    g = If (never) <
        then_branch = yes () => (float[8,24] z) {
            z = Exp (h)
        },
        else_branch = no () => (float[8,24] z) {
            i = If (is_large) <
                then_branch = yes_2 () => (float[8,24] r) { r = Softplus (h) },
                else_branch = no_2 () => (float[8,24] r) { r = Neg (h) }
            >
            z = Add (h, i)
        }
    >
    logits = Gemm <transB = 1> (g, w2, b2)
}
"""


class Branches(Parameters):
    """If with constant conditions, one of them from a shape, one inside a branch."""

    def __init__(self):
        super().__init__(w1=(24, 16), b1=24, w2=(10, 24), b2=10)

    def forward(self, x):
        h = torch.tanh(F.linear(x, self.w1, self.b1))
        return F.linear(h + F.softplus(h), self.w2, self.b2)


@control
def branches():
    case = classifier(Branches(), 8, 16, name="x")
    case.write = writer(BRANCHES)
    return case


LOOP = """
loop (float[8,16] x) => (float[8,10] logits)
<int64 trips = {4}, bool go = {1}>
{
    one = Constant <value = float {1}> ()
    start = Gemm <transB = 1> (x, w1, b1)
    last, seen = Loop (trips, go, start) <
        body = step (int64 i, bool more, float[8,24] h)
            => (bool more_out, float[8,24] h_out, float[8,24] square) {
            more_out = Identity (more)
            n = Cast <to = 1> (i)
            m = Add (n, one)
            p = MatMul (h, w2)
            q = Add (p, start)
            r = Div (q, m)
            h_out = Tanh (r)
            square = Mul (h_out, h_out)
        }
    >
    mean = ReduceMean <axes = [0], keepdims = 0> (seen)
    s = Add (last, mean)
    logits = Gemm <transB = 1> (s, w3, b3)
}
"""


class Loop(Parameters):
    """Loop with a constant trip count, a carried value, an output per iteration."""

    def __init__(self):
        super().__init__(w1=(24, 16), b1=24, w2=(24, 24), w3=(10, 24), b3=10)

    def forward(self, x):
        start = h = F.linear(x, self.w1, self.b1)
        squares = []
        for i in range(4):
            h = torch.tanh((h @ self.w2 + start) / (i + 1))
            squares.append(h * h)
        return F.linear(h + torch.stack(squares).mean(0), self.w3, self.b3)


@control
def loop():
    case = classifier(Loop(), 8, 16, name="x")
    case.write = writer(LOOP)
    return case


SCAN = """
scan (float[4,6,16] x) => (float[4,6,10] logits)
<int64[2] state = {4, 24}>
{
    start = ConstantOfShape (state)
    last, ys = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        body = forth (float[4,24] h, float[4,16] t) => (float[4,24] h_out, float[4,24] y) {
            p = MatMul (t, w1)
            q = MatMul (h, w2)
            r = Add (p, q)
            h_out = Tanh (r)
            y = Identity (h_out)
        }
    > (start, x)
    first, zs = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        scan_input_directions = [1], scan_output_directions = [1],
        body = back (float[4,24] h, float[4,24] t) => (float[4,24] h_out, float[4,24] y) {
            q = MatMul (h, w3)
            r = Add (t, q)
            h_out = Tanh (r)
            y = Mul (h_out, t)
        }
    > (last, ys)
    p = MatMul (zs, w4)
    logits = Add (p, b4)
}
"""


class Scan(Parameters):
    """Scan forwards over a sequence, then backwards over the result."""

    def __init__(self):
        super().__init__(w1=(16, 24), w2=(24, 24), w3=(24, 24), w4=(24, 10), b4=10)

    def forward(self, x):
        h, ys, zs = x.new_zeros(4, 24), [], []
        for t in x.unbind(1):
            h = torch.tanh(t @ self.w1 + h @ self.w2)
            ys.append(h)
        for y in reversed(ys):
            h = torch.tanh(y + h @ self.w3)
            zs.append(h * y)
        return torch.stack(zs[::-1], 1) @ self.w4 + self.b4


@control
def scan():
    def labels(g, x):
        return (x["x"].mean(2) * 7919).long().abs() % 10

    return Case(Scan(), image(4, 6, 16, name="x"), labels, write=writer(SCAN))
