// Tests the import of ONNX operators on small models, evaluated by the reference evaluator.
// tests/frontend/refuse_test.c tests the messages, and tests/e2e compares whole models with
// PyTorch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frontend/internal.h"
#include "tests/frontend/model_text.h"

// A model, the numbers of its inputs (';' separates them), and its first output.
static const struct {
    const char *model, *in, *out;
} cases[] = {
    // elementwise, broadcasting
    {"input x f32[2,2]; y = Relu(x); output y", "-1 2 0 -4", "[2,2] 0 2 0 0"},
    {"input x f32[2,1]; input b f32[3]; y = Add(x, b); output y", "1 2; 10 20 30",
     "[2,3] 11 21 31 12 22 32"},
    {"input x f32[2]; init e f32[] 2; y = Pow(x, e); output y", "3 -4", "[2] 9 16"},
    {"input x i64[2]; init e i64[] 3; y = Pow(x, e); output y", "3 -2", "[2] 27 -8"},
    {"input x i64[4]; init d i64[] 3; y = Mod(x, d); output y", "-4 -3 4 7", "[4] 2 0 1 1"},
    {"input x i64[2]; init d i64[] -3; y = Mod(x, d) fmod=1; output y", "-4 4", "[2] -1 1"},
    {"input x f32[3]; init a f32[] -1; y = Clip(x, a); output y", "-2 0 2", "[3] -1 0 2"},
    {"opset 10; input x f32[3]; y = Clip(x) min=-1f max=1f; output y", "-2 0 2", "[3] -1 0 1"},
    {"input x f32[2]; input z f32[2]; y = Max(x, z, x); output y", "1 5; 3 4", "[2] 3 5"},
    {"input x f32[2]; input z f32[2]; y = Mean(x, z); output y", "1 5; 3 4", "[2] 2 4.5"},
    {"input x f32[3]; y = LeakyRelu(x) alpha=0.5f; output y", "-2 0 2", "[3] -1 0 2"},
    {"input x f32[2]; y = HardSwish(x); output y", "0 3", "[2] 0 3"},
    {"input x f32[3]; y = Ceil(x); output y", "-1.5 0 1.2", "[3] -1 0 2"},
    {"input x f32[2]; c = Less(x, x); d = Not(c); y = Cast(d) to=1; output y", "1 2", "[2] 1 1"},
    {"input x f32[2]; input z f32[2]; c = Greater(x, z); y = Where(c, x, z); output y", "1 5; 3 4",
     "[2] 3 5"},
    {"input x f32[4]; y = IsInf(x) detect_negative=0; output y", "1 inf -inf nan", "[4] 0 1 0 0"},
    // shapes
    {"input x f32[2,3]; init s i64[2] 3 -1; y = Reshape(x, s); output y", "1 2 3 4 5 6",
     "[3,2] 1 2 3 4 5 6"},
    {"input x f32[2,3]; init s i64[2] 0 3; y = Reshape(x, s); output y", "1 2 3 4 5 6",
     "[2,3] 1 2 3 4 5 6"},
    {"input x f32[2,3,1]; y = Flatten(x) axis=-1; output y", "1 2 3 4 5 6", "[6,1] 1 2 3 4 5 6"},
    {"input x f32[1,2,1]; y = Squeeze(x); output y", "1 2", "[2] 1 2"},
    {"opset 11; input x f32[2]; y = Unsqueeze(x) axes=[0,-1]; output y", "1 2", "[1,2,1] 1 2"},
    {"input x f32[2,3]; y = Transpose(x); output y", "1 2 3 4 5 6", "[3,2] 1 4 2 5 3 6"},
    {"input x f32[2]; init r i64[1] 2; y = Tile(x, r); output y", "1 2", "[4] 1 2 1 2"},
    {"input x f32[2,1]; init s i64[1] 2; y = Expand(x, s); output y", "1 2", "[2,2] 1 1 2 2"},
    {"input x f32[2,1]; y = Concat(x, x) axis=-1; output y", "1 2", "[2,2] 1 1 2 2"},
    {"input x f32[5]; a, y = Split(x) num_outputs=2; output y", "1 2 3 4 5", "[2] 4 5"},
    {"opset 11; input x f32[5]; a, y = Split(x) split=[2,3]; output y", "1 2 3 4 5", "[3] 3 4 5"},
    {"input x f32[5]; init n i64[] 2; s = SplitToSequence(x, n); init i i64[] -1; "
     "y = SequenceAt(s, i); output y",
     "1 2 3 4 5", "[1] 5"},
    {"input x f32[50000,0]; init n i64[] 20000; s = SplitToSequence(x, n); init i i64[] 2; "
     "y = SequenceAt(s, i); output y",
     "", "[10000,0]"},
    {"input x f32[5]; init n i64[3] 1 0 4; s = SplitToSequence(x, n); init i i64[] 2; "
     "y = SequenceAt(s, i); output y",
     "1 2 3 4 5", "[4] 2 3 4 5"},
    {"input x f32[5]; init a i64[1] -1; init b i64[1] -99; init c i64[1] 0; init d i64[1] -2; "
     "y = Slice(x, a, b, c, d); output y",
     "1 2 3 4 5", "[3] 5 3 1"},
    {"opset 9; input x f32[2,3]; y = Slice(x) starts=[1] ends=[9] axes=[1]; output y",
     "1 2 3 4 5 6", "[2,2] 2 3 5 6"},
    {"input x f32[3]; init p i64[2] 1 -1; y = Pad(x, p); output y", "1 2 3", "[3] 0 1 2"},
    {"input x f32[2,2]; y = Trilu(x) upper=0; output y", "1 2 3 4", "[2,2] 1 0 3 4"},
    {"input x f32[2,5]; s = Shape(x) start=-1; y = Cast(s) to=1; output y", "", "[1] 5"},
    {"input x f32[2,5]; y = Size(x); output y", "", "[] 10"},
    // sources
    {"init a i64[] 5; init b i64[] 0; init c i64[] -2; y = Range(a, b, c); output y", "",
     "[3] 5 3 1"},
    {"init s i64[1] 3; y = ConstantOfShape(s); output y", "", "[3] 0 0 0"},
    {"y = Constant() value_ints=[7,8]; output y", "", "[2] 7 8"},
    {"input x f32[2,2]; y = EyeLike(x) k=1; output y", "1 2 3 4", "[2,2] 0 1 0 0"},
    {"input x f32[4]; y = Dropout(x); output y", "1 2 3 4", "[4] 1 2 3 4"},
    // reductions
    {"input x f32[2,2]; init a i64[1] -1; y = ReduceSum(x, a); output y", "1 2 3 4", "[2,1] 3 7"},
    {"opset 11; input x f32[2,2]; y = ReduceSum(x) axes=[0] keepdims=0; output y", "1 2 3 4",
     "[2] 4 6"},
    {"input x f32[2,2]; y = ReduceMean(x) keepdims=0; output y", "1 2 3 4", "[] 2.5"},
    {"input x f32[2,2]; y = ReduceMean(x) noop_with_empty_axes=1; output y", "1 2 3 4",
     "[2,2] 1 2 3 4"},
    {"input x f32[3]; y = ReduceProd(x) keepdims=0; output y", "2 3 4", "[] 24"},
    {"input x f32[2]; y = ReduceL2(x) keepdims=0; output y", "3 -4", "[] 5"},
    {"input x f32[2,3]; y = ArgMax(x) axis=1 keepdims=0; output y", "1 3 3 5 4 0", "[2] 1 0"},
    {"input x f32[3]; y = ArgMin(x); output y", "2 1 3", "[1] 1"},
    {"input x f32[3]; init a i64[] 0; y = CumSum(x, a) exclusive=1 reverse=1; output y", "1 2 3",
     "[3] 5 3 0"},
    {"input x f32[4]; init k i64[1] 2; y, i = TopK(x, k) largest=0; output y", "4 1 3 2",
     "[2] 1 2"},
    {"input x f32[2,2]; y = Softmax(x); output y", "0 0 9 9", "[2,2] 0.5 0.5 0.5 0.5"},
    {"opset 12; input x f32[2,2]; y = Softmax(x) axis=0; output y", "7 7 7 7",
     "[2,2] 0.25 0.25 0.25 0.25"},
    {"opset 12; input x f32[1,2,2]; y = Softmax(x); output y", "7 7 7 7",
     "[1,2,2] 0.25 0.25 0.25 0.25"},
    {"opset 13; input x f32[1,2,2]; y = Softmax(x); output y", "7 7 7 7",
     "[1,2,2] 0.5 0.5 0.5 0.5"},
    {"opset 11; input x f32[3]; init a f32[] -1; y = Clip(x, a); output y", "-2 0 2", "[3] -1 0 2"},
    // products
    {"input a f32[2,2]; input b f32[2,2]; y = MatMul(a, b); output y", "1 2 3 4; 1 0 1 1",
     "[2,2] 3 2 7 4"},
    {"input a f32[2]; input b f32[2]; y = MatMul(a, b); output y", "1 2; 3 4", "[] 11"},
    {"input a f32[2,1,1]; input b f32[1,2,1,1]; y = MatMul(a, b); output y", "2 3; 10 100",
     "[1,2,1,1] 20 300"},
    {"input a f32[1,2]; input b f32[1,2]; input c f32[1]; y = Gemm(a, b, c) transB=1 alpha=2f "
     "beta=10f; output y",
     "1 2; 3 4; 5", "[1,1] 72"},
    {"input a f32[2,2]; input b f32[2,2]; y = Einsum(a, b) equation='ij, kj'; output y",
     "1 2 3 4; 1 0 0 1", "[2,2] 1 2 3 4"},
    {"input a f32[2,2]; y = Einsum(a) equation='ij->j'; output y", "1 2 3 4", "[2] 4 6"},
    // indexing
    {"input x f32[3,2]; init i i64[2] -1 0; y = Gather(x, i); output y", "1 2 3 4 5 6",
     "[2,2] 5 6 1 2"},
    {"input x f32[3]; input i i64[2]; y = Gather(x, i); output y", "1 2 3; -1 1", "[2] 3 2"},
    {"input x f32[2,3]; input i i64[2,1]; y = GatherElements(x, i) axis=1; output y",
     "1 2 3 4 5 6; 2 -3", "[2,1] 3 4"},
    {"input x f32[3,1]; input i i64[1,1]; y = GatherElements(x, i); output y", "1 2 3; 2",
     "[1,1] 3"},
    {"input x f32[2,2]; input i i64[3,2]; y = GatherND(x, i); output y", "1 2 3 4; 0 1 -1 0 1 1",
     "[3] 2 3 4"},
    {"input x f32[2,3]; init r i64[2,1,2] 0 2 1 0; y = GatherND(x, r); output y", "1 2 3 4 5 6",
     "[2,1] 3 4"},
    {"input x f32[2,3]; init r i64[3,2,2] 0 0 1 0 0 1 1 1 0 2 1 2; y = GatherND(x, r); output y",
     "1 2 3 4 5 6", "[3,2] 1 4 2 5 3 6"},
    {"input i i64[2]; init d i64[] 3; init v f32[2] 0 5; y = OneHot(i, d, v); output y", "-1 1",
     "[2,3] 0 0 5 0 5 0"},
    // windows
    {"input x f32[1,1,4]; init w f32[1,1,2] 1 10; y = Conv(x, w) strides=[2]; output y", "1 2 3 4",
     "[1,1,2] 21 43"},
    {"input x f32[1,1,3]; init w f32[1,1,2] 1 10; y = Conv(x, w) auto_pad='SAME_UPPER'; output y",
     "1 2 3", "[1,1,3] 21 32 3"},
    {"input x f32[1,1,2]; init w f32[1,1,2] 1 10; y = ConvTranspose(x, w) strides=[2]; output y",
     "1 2", "[1,1,4] 1 10 2 20"},
    {"input x f32[1,1,2]; init w f32[1,1,2] 1 10; y = ConvTranspose(x, w) strides=[3] "
     "output_padding=[1]; output y",
     "1 2", "[1,1,6] 1 10 0 2 20 0"},
    {"input x f32[1,1,5]; y = MaxPool(x) kernel_shape=[2] strides=[2] ceil_mode=1; output y",
     "1 2 3 4 5", "[1,1,3] 2 4 5"},
    {"input x f32[1,1,3]; y = AveragePool(x) kernel_shape=[2] pads=[1,1]; output y", "2 4 6",
     "[1,1,4] 2 3 5 6"},
    {"input x f32[1,1,3]; y = AveragePool(x) kernel_shape=[2] pads=[1,1] count_include_pad=1; "
     "output y",
     "2 4 6", "[1,1,4] 1 3 5 3"},
    {"input x f32[1,2,2]; y = GlobalAveragePool(x); output y", "1 3 5 7", "[1,2,1] 2 6"},
    // norms
    {"input x f32[1,2]; init s f32[2] 2 3; y = LayerNormalization(x, s) epsilon=0f; output y",
     "1 3", "[1,2] -2 3"},
    {"input x f32[1,2]; init s f32[2] 1 1; y = RMSNormalization(x, s) epsilon=0f; output y", "3 3",
     "[1,2] 1 1"},
    {"input x f32[2,1]; init s f32[1] 2; init b f32[1] 1; init m f32[1] 1; init v f32[1] 4; "
     "y = BatchNormalization(x, s, b, m, v) epsilon=0f; output y",
     "1 3", "[2,1] 1 3"},
    // control
    {"input x f32[]; init c bool[] 0; y = If(c) then_branch={ t = Neg(x); output t } "
     "else_branch={ e = Abs(x); output e }; output y",
     "-3", "[] 3"},
    {"input x f32[]; init n i64[] 3; l, y = Loop(n, , x) body={ input i i64[]; input c bool[]; "
     "input s f32[]; t = Add(s, s); d = Identity(c); output d; output t; output t }; output y",
     "1", "[3] 2 4 8"},
    {"input x f32[]; l = Loop(, , x) body={ input i i64[]; input c bool[]; input s f32[]; "
     "init two i64[] 2; t = Add(s, x); d = Less(i, two); output d; output t }; output l",
     "1", "[] 4"},
    {"input x f32[3]; init z f32[] 0; l, y = Scan(z, x) num_scan_inputs=1 body={ input a f32[]; "
     "input b f32[]; s = Add(a, b); t = Identity(s); output s; output t }; output y",
     "1 2 3", "[3] 1 3 6"},
    {"input x f32[2]; function my F(a) -> b { b = LeakyRelu(a) alpha=ref:slope }; "
     "y = F(x) slope=0.5f in my; output y",
     "-2 2", "[2] -1 2"},
    // recurrent layers
    {"input x f32[2,1,1]; init w f32[1,1,1] 1; init r f32[1,1,1] 0; y = RNN(x, w, r) "
     "hidden_size=1 direction='reverse'; output y",
     "0 0", "[2,1,1,1] 0 0"},
    {"input x f32[3,1,1]; init w f32[1,3,1] 0; init r f32[1,3,1] 0; init b f32[1,6] 0 0 0 0 0 0; "
     "init h f32[1,1,1] 8; y, l = GRU(x, w, r, b, , h) hidden_size=1 linear_before_reset=1; "
     "output l",
     "1 2 3", "[1,1,1] 1"},
    {"input x f32[2,1,1]; init w f32[2,4,1] 0; init r f32[2,4,1] 0; init h f32[2,1,1] 0; "
     "init c f32[2,1,1] 4; y, l, k = LSTM(x, w, r, , , h, c) hidden_size=1 "
     "direction='bidirectional'; output k",
     "1 2", "[2,1,1] 1 1"},
    // attention
    {"opset 23; input q f32[1,1,2,1]; input v f32[1,1,2,1]; y = Attention(q, q, v) is_causal=1 "
     "scale=0f; output y",
     "1 2; 3 5", "[1,1,2,1] 3 4"},
    {"opset 23; input q f32[1,2,2]; input v f32[1,2,1]; y = Attention(q, v, v) q_num_heads=2 "
     "kv_num_heads=1 scale=0f; output y",
     "1 2 3 4; 3 5", "[1,2,2] 4 4 4 4"},
    {"opset 23; input x f32[1,1,1,2]; init c f32[1,1,1] 0; init s f32[1,1,1] 1; "
     "y = RotaryEmbedding(x, c, s); output y",
     "1 2", "[1,1,1,2] -2 1"},
    // other operators, with numbers by the formulas of the specification
    {"input x f32[5]; y = Erf(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.99532 -0.5205 0 0.96611 0.99998"},
    {"input x f32[5]; y = Exp(x); output y", "-2 -0.5 0 1.5 3",
     "[5] 0.13534 0.60653 1 4.4817 20.086"},
    {"input x f32[5]; y = Floor(x); output y", "-2 -0.5 0 1.5 3", "[5] -2 -1 0 1 3"},
    {"input x f32[5]; y = Cos(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.41615 0.87758 1 0.070737 -0.98999"},
    {"input x f32[5]; y = Sin(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.9093 -0.47943 0 0.99749 0.14112"},
    {"input x f32[5]; y = Atan(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -1.1071 -0.46365 0 0.98279 1.249"},
    {"input x f32[5]; y = Tan(x); output y", "-2 -0.5 0 1.5 3",
     "[5] 2.185 -0.5463 0 14.101 -0.14255"},
    {"input x f32[5]; y = Tanh(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.96403 -0.46212 0 0.90515 0.99505"},
    {"input x f32[5]; y = Sigmoid(x); output y", "-2 -0.5 0 1.5 3",
     "[5] 0.1192 0.37754 0.5 0.81757 0.95257"},
    {"input x f32[5]; y = Sign(x); output y", "-2 -0.5 0 1.5 3", "[5] -1 -1 0 1 1"},
    {"input x f32[5]; y = Log(x); output y", "0.5 1 2 3 100",
     "[5] -0.69315 0 0.69315 1.0986 4.6052"},
    {"input x f32[5]; y = Sqrt(x); output y", "0 0.25 1 2 9", "[5] 0 0.5 1 1.4142 3"},
    {"input x f32[5]; y = Reciprocal(x); output y", "-2 -0.5 1 4 8", "[5] -0.5 -2 1 0.25 0.125"},
    {"input x f32[5]; y = Round(x); output y", "-2.5 -0.5 0.4 1.5 2.6", "[5] -2 -0 0 2 3"},
    {"input x f32[5]; y = IsNaN(x); output y", "-2 0 nan inf 1", "[5] 0 0 1 0 0"},
    {"input x f32[5]; y = Softplus(x); output y", "-2 -0.5 0 1.5 3",
     "[5] 0.12693 0.47408 0.69315 1.7014 3.0486"},
    {"input x f32[5]; y = Softsign(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.66667 -0.33333 0 0.6 0.75"},
    {"input x f32[5]; y = Elu(x) alpha=2f; output y", "-2 -0.5 0 1.5 3",
     "[5] -1.7293 -0.78694 0 1.5 3"},
    {"input x f32[5]; y = Celu(x) alpha=2f; output y", "-2 -0.5 0 1.5 3",
     "[5] -1.2642 -0.4424 0 1.5 3"},
    {"input x f32[5]; y = Selu(x) alpha=2f gamma=3f; output y", "-2 -0.5 0 1.5 3",
     "[5] -5.188 -2.3608 0 4.5 9"},
    {"opset 20; input x f32[5]; y = Gelu(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.0455 -0.15427 0 1.3998 2.996"},
    {"opset 20; input x f32[5]; y = Gelu(x) approximate='tanh'; output y", "-2 -0.5 0 1.5 3",
     "[5] -0.045402 -0.15429 0 1.3996 2.9964"},
    {"input x f32[5]; y = HardSigmoid(x) alpha=0.5f beta=0.25f; output y", "-2 -0.5 0 1.5 3",
     "[5] 0 0 0.25 1 1"},
    {"input x f32[5]; y = Mish(x); output y", "-2 -0.5 0 1.5 3",
     "[5] -0.2525 -0.22074 0 1.4034 2.9865"},
    {"opset 24; input x f32[5]; y = Swish(x) alpha=2f; output y", "-2 -0.5 0 1.5 3",
     "[5] -0.035972 -0.13447 0 1.4289 2.9926"},
    {"input x f32[5]; y = ThresholdedRelu(x) alpha=2f; output y", "-2 -0.5 0 1.5 3",
     "[5] 0 0 0 0 3"},
    {"input x f32[3]; input z f32[3]; y = Sub(x, z); output y", "1 5 -6; 3 2 4", "[3] -2 3 -10"},
    {"input x f32[3]; input z f32[3]; y = Mul(x, z); output y", "1 5 -6; 3 2 4", "[3] 3 10 -24"},
    {"input x f32[3]; input z f32[3]; y = Div(x, z); output y", "1 5 -6; 3 2 4",
     "[3] 0.33333 2.5 -1.5"},
    {"input x i64[3]; input z i64[3]; y = Div(x, z); output y", "7 -7 8; 2 2 4", "[3] 3 -3 2"},
    {"input x f32[3]; input z f32[3]; y = PRelu(x, z); output y", "1 5 -6; 3 2 4", "[3] 1 5 -24"},
    {"input x f32[3]; input z f32[3]; y = Min(x, z); output y", "1 5 -6; 3 2 4", "[3] 1 2 -6"},
    {"input x f32[2]; input z f32[2]; y = Sum(x, z, x); output y", "1 5; 3 4", "[2] 5 14"},
    {"input x f32[3]; input z f32[3]; y = Equal(x, z); output y", "1 2 3; 2 2 2", "[3] 0 1 0"},
    {"input x f32[3]; input z f32[3]; y = GreaterOrEqual(x, z); output y", "1 2 3; 2 2 2",
     "[3] 0 1 1"},
    {"input x f32[3]; input z f32[3]; y = LessOrEqual(x, z); output y", "1 2 3; 2 2 2",
     "[3] 1 1 0"},
    {"input x bool[4]; input z bool[4]; y = And(x, z); output y", "0 0 1 1; 0 1 0 1",
     "[4] 0 0 0 1"},
    {"input x bool[4]; input z bool[4]; y = Or(x, z); output y", "0 0 1 1; 0 1 0 1", "[4] 0 1 1 1"},
    {"input x bool[4]; input z bool[4]; y = Xor(x, z); output y", "0 0 1 1; 0 1 0 1",
     "[4] 0 1 1 0"},
    {"input x f32[2]; input z i64[1]; y = CastLike(x, z); output y", "-1.5 2.5; 0", "[2] -1 2"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceL1(x, a); output y", "1 -2 3 4", "[2,1] 3 7"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceMax(x, a); output y", "1 -2 3 4", "[2,1] 1 4"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceMin(x, a); output y", "1 -2 3 4", "[2,1] -2 3"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceSumSquare(x, a); output y", "1 -2 3 4",
     "[2,1] 5 25"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceLogSum(x, a); output y", "1 2 3 4",
     "[2,1] 1.0986 1.9459"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceLogSumExp(x, a); output y", "1 -2 3 4",
     "[2,1] 1.0486 4.3133"},
    {"input x f32[1,2]; y = LogSoftmax(x); output y", "0 1", "[1,2] -1.3133 -0.31326"},
    {"input x f32[2,2]; y = LpNormalization(x) axis=1 p=1; output y", "1 3 -2 2",
     "[2,2] 0.25 0.75 -0.5 0.5"},
    {"input x f32[1,2]; y = LpNormalization(x); output y", "3 4", "[1,2] 0.6 0.8"},
    {"input x f32[1,2,2]; y = GlobalMaxPool(x); output y", "1 3 7 5", "[1,2,1] 3 7"},
    {"input x f32[1,8,1,1]; y = DepthToSpace(x) blocksize=2 mode='DCR'; output y",
     "0 1 2 3 4 5 6 7", "[1,2,2,2] 0 2 4 6 1 3 5 7"},
    {"input x f32[1,8,1,1]; y = DepthToSpace(x) blocksize=2 mode='CRD'; output y",
     "0 1 2 3 4 5 6 7", "[1,2,2,2] 0 1 2 3 4 5 6 7"},
    {"input x f32[1,2,2,2]; y = SpaceToDepth(x) blocksize=2; output y", "0 1 2 3 4 5 6 7",
     "[1,8,1,1] 0 4 1 5 2 6 3 7"},
    {"input x f32[1,2,2]; init s f32[2] 2 3; init b f32[2] 1 0; y = InstanceNormalization(x, s, b) "
     "epsilon=0f; output y",
     "1 3 5 9", "[1,2,2] -1 3 -3 3"},
    {"opset 21; input x f32[1,4,1]; init s f32[4] 1 2 3 4; init b f32[4] 0 0 1 1; y = "
     "GroupNormalization(x, s, b) num_groups=2 epsilon=0f; output y",
     "1 3 5 9", "[1,4,1] -1 2 -2 5"},
    {"input x f32[1,4,1]; init s f32[2] 1 2; init b f32[2] 0 1; y = GroupNormalization(x, s, b) "
     "num_groups=2 epsilon=0f; output y",
     "1 3 5 9", "[1,4,1] -1 1 -1 3"},
    {"input x f32[2]; s = SequenceConstruct(x, x, x); n = SequenceLength(s); y = Identity(n); "
     "output y",
     "1 2", "[] 3"},
    {"input x f32[2]; input z f32[1]; s = SequenceConstruct(x, z); y = ConcatFromSequence(s) "
     "axis=0; output y",
     "1 2; 3", "[3] 1 2 3"},
    {"input x f32[2]; s = SequenceConstruct(x, x); y = ConcatFromSequence(s) axis=0 new_axis=1; "
     "output y",
     "1 2", "[2,2] 1 2 1 2"},
    {"input x f32[1]; input z f32[1]; e = SequenceEmpty(); s = SequenceInsert(e, x); init i i64[] "
     "0; t = SequenceInsert(s, z, i); y = ConcatFromSequence(t) axis=0; output y",
     "1; 2", "[2] 2 1"},
    // with the fewest and the most inputs
    {"input x f32[2]; y = ReduceL1(x); output y", "3 -4", "[1] 7"},
    {"input x f32[2]; y = ReduceMax(x); output y", "3 -4", "[1] 3"},
    {"input x f32[2]; y = ReduceMin(x); output y", "3 -4", "[1] -4"},
    {"input x f32[2]; y = ReduceSumSquare(x); output y", "3 -4", "[1] 25"},
    {"input x f32[2]; y = ReduceLogSum(x); output y", "1 2", "[1] 1.0986"},
    {"input x f32[2]; y = ReduceLogSumExp(x); output y", "1 2", "[1] 2.3133"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceL2(x, a); output y", "3 -4 6 8", "[2,1] 5 10"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceMean(x, a); output y", "1 3 5 9", "[2,1] 2 7"},
    {"input x f32[2,2]; init a i64[1] 1; y = ReduceProd(x, a); output y", "2 3 4 5", "[2,1] 6 20"},
    {"opset 9; input x f32[3]; y, i = TopK(x) k=2; output y", "1 3 2", "[2] 3 2"},
    {"input x f32[2]; y = Concat(x) axis=0; output y", "1 2", "[2] 1 2"},
    {"input x f32[2]; y = Max(x); output y", "1 2", "[2] 1 2"},
    {"input x f32[2]; y = Mean(x); output y", "1 2", "[2] 1 2"},
    {"input x f32[2]; y = Min(x); output y", "1 2", "[2] 1 2"},
    {"input x f32[2]; y = Sum(x); output y", "1 2", "[2] 1 2"},
    {"opset 10; input x f32[2]; y = Pad(x) pads=[1,0] value=7f; output y", "1 2", "[3] 7 1 2"},
    {"input x f32[2,1]; init p i64[2] 1 0; c = Constant() value_float=7f; init a i64[1] 0; y = "
     "Pad(x, p, c, a); "
     "output y",
     "1 2", "[3,1] 7 1 2"},
    {"input x f32[3]; init s i64[2] 1 2; a, y = Split(x, s); output y", "1 2 3", "[2] 2 3"},
    {"input x f32[3]; init a f32[] -1; init b f32[] 1; y = Clip(x, a, b); output y", "-2 0 2",
     "[3] -1 0 1"},
    {"opset 23; input x f32[1,1,2,2]; init c f32[2,1] 1 0; init s f32[2,1] 0 1; init p i64[1,2] 1 "
     "0; y = RotaryEmbedding(x, c, s, p); output y",
     "1 2 3 4", "[1,1,2,2] -2 1 3 4"},
    {"input a f32[1,2]; input b f32[2,1]; y = Gemm(a, b) alpha=2f; output y", "1 2; 3 4",
     "[1,1] 22"},
    {"input x f32[2]; r = Constant() value_float=0.5f; init t bool[] 0; y = Dropout(x, r, t); "
     "output y",
     "1 2", "[2] 1 2"},
    {"input x f32[1,1,2]; init a i64[1] 1; y = Squeeze(x, a); output y", "1 2", "[1,2] 1 2"},
    {"input x f32[2,2]; init k i64[] 1; y = Trilu(x, k); output y", "1 2 3 4", "[2,2] 0 2 0 0"},
    {"input x f32[2]; init a i64[1] 1; y = Unsqueeze(x, a); output y", "1 2", "[2,1] 1 2"},
    {"input x f32[2]; s = SequenceConstruct(x); y = ConcatFromSequence(s) axis=0; output y", "1 2",
     "[2] 1 2"},
    {"input x f32[2]; s = SplitToSequence(x); init i i64[] 0; y = SequenceAt(s, i); output y",
     "1 2", "[1] 1"},
    {"input x f32[1,1,2]; init w f32[1,1,1] 2; init b f32[1] 10; y = Conv(x, w, b); output y",
     "1 2", "[1,1,2] 12 14"},
    {"input x f32[1,1,2]; init w f32[1,1,1] 2; init b f32[1] 10; y = ConvTranspose(x, w, b); "
     "output y",
     "1 2", "[1,1,2] 12 14"},
    {"input x f32[1,2]; init s f32[2] 2 3; init b f32[2] 1; y = LayerNormalization(x, s, b) "
     "epsilon=0f; output y",
     "1 3", "[1,2] -1 4"},
    {"input x f32[1,1,1]; init w f32[1,3,1] 0 0 1; init r f32[1,3,1] 0; y, l = GRU(x, w, r) "
     "hidden_size=1; output l",
     "1", "[1,1,1] 0.3808"},
    {"input x f32[1,1,1]; init w f32[1,4,1] 0 0 0 1; init r f32[1,4,1] 0; y, l = LSTM(x, w, r) "
     "hidden_size=1; output l",
     "1", "[1,1,1] 0.1817"},
    {"input x f32[1,1,1]; init w f32[1,1,1] 0; init r f32[1,1,1] 1; init b f32[1,2] 0; init h "
     "f32[1,1,1] 1; y, l = RNN(x, w, r, b, , h) hidden_size=1; output l",
     "5", "[1,1,1] 0.76159"},
};

// Reads the numbers of all inputs in order, then those of parameters and buffers.
static void fill(Arena *a, const Graph *g, const Weights *w, const char *s, Tensor *values)
{
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER) {
            for (int i = 0; i < w->n; i++)
                if (!strcmp(w->weight[i].name, x->name)) {
                    Value constant = *x;
                    constant.data = w->weight[i].data;
                    values[v] = tensor_of(a, &constant);
                }
            continue;
        }
        if (x->kind != VALUE_INPUT)
            continue;
        values[v] = tensor_new(a, x->dtype, x->rank, x->dim);
        for (int64_t i = 0; i < value_count(x); i++) {
            char *end = (char *)s;
            double number = strtod(s, &end);
            if (values[v].f)
                values[v].f[i] = number;
            else
                values[v].i[i] = (int64_t)number;
            s = end;
        }
        s += *s == ';';
    }
}

static char *evaluate(Arena *a, const char *text, const char *in, Diag *d)
{
    ImportOptions o = {.accumulate = 1};
    Weights w;
    size_t size;
    uint8_t *bytes = model_from_text(a, text, &size);
    Graph *g = import_bytes(a, bytes, size, &o, &w, d);
    Text t = {0};

    if (!g || !graph_verify(g, d))
        return NULL;
    Tensor *values = arena_array(a, Tensor, g->n_values + 1);
    fill(a, g, &w, in, values);
    graph_eval(g, a, values);
    const Tensor *y = &values[g->outputs[0].value];
    text_printf(&t, "[");
    for (int i = 0; i < y->rank; i++)
        text_printf(&t, "%s%" PRId64, i ? "," : "", y->dim[i]);
    text_printf(&t, "]");
    for (int64_t i = 0; i < tensor_count(y); i++)
        text_printf(&t, " %.5g", y->f ? y->f[i] : (double)y->i[i]);
    char *s = arena_string(a, "%s", t.s);
    text_free(&t);
    return s;
}

static void test_operators(void **state)
{
    int failed = 0;

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Diag d = {.file = "model"};
        char *out = evaluate(a, cases[i].model, cases[i].in, &d);
        if (!out || strcmp(out, cases[i].out)) {
            print_message("%s\n  expected %s\n  found    %s\n", cases[i].model, cases[i].out,
                          out ? out : "an error");
            failed++;
        }
        arena_free(a);
    }
    assert_int_equal(failed, 0);
}

// Counts the cases of an operator, and the fewest and the most inputs that any of them has.
static int count_inputs(const char *type, int *fewest, int *most)
{
    char call[80];
    int n = 0;

    snprintf(call, sizeof call, "= %s(", type);
    for (int i = 0; i < COUNT(cases); i++)
        for (const char *s = cases[i].model; (s = strstr(s, call)); n++) {
            s += strlen(call);
            int inputs = *s != ')';
            for (; *s != ')'; s++)
                inputs += *s == ',';
            *fewest = n && *fewest < inputs ? *fewest : inputs;
            *most = n && *most > inputs ? *most : inputs;
        }
    return n;
}

static void test_all_operators(void **state)
{
    enum { MANY = 7 };  // operators that take this many need no case with all of them
    const OpImporter *const tables[] = {
        import_elementwise, import_activation,  import_shape,     import_part,     import_reduce,
        import_norm,        import_contraction, import_window,    import_indexing, import_rnn,
        import_control,     import_sequence,    import_attention, import_source};
    int missing = 0;

    for (int k = 0; k < COUNT(tables); k++)
        for (const OpImporter *l = tables[k]; l->type; l++) {
            int fewest = 0, most = 0, n = count_inputs(l->type, &fewest, &most);
            bool is_loop = tables[k] == import_control;
            if (n && (is_loop || fewest == l->min_in) && (l->max_in >= MANY || most == l->max_in))
                continue;
            print_message("%s has %d cases, of %d to %d inputs: expected %d to %d\n", l->type, n,
                          fewest, most, l->min_in, l->max_in);
            missing++;
        }
    assert_int_equal(missing, 0);
}

// Writes the models to files, as seeds for tests/fuzz/onnx_fuzz.c.
static int write_models(const char *folder)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        size_t size;
        uint8_t *bytes = model_from_text(a, cases[i].model, &size);
        FILE *f = fopen(arena_string(a, "%s/%d.onnx", folder, i), "wb");
        bool ok = f && fwrite(bytes, 1, size, f) == size && !fclose(f);
        arena_free(a);
        if (!ok)
            return 1;
    }
    return 0;
}

// With a folder as argument, writes the models there instead.
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators),
                                       cmocka_unit_test(test_all_operators)};

    return argc > 1 ? write_models(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
