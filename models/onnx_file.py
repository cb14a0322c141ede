"""Writing, cleaning and describing ONNX files."""
import collections

import onnx
import torch

from zoo import Named

# The exporter's metadata that a file keeps: module scopes, and the marks of buffers.
KEPT_METADATA = (
    "namespace",
    "pkg.torch.onnx.name_scopes",
    "pkg.torch.onnx.class_hierarchy",
    "pkg.torch.export.graph_signature.InputSpec.kind",
)


def write_onnx(module, inputs, path, options):
    """Exports `module` as `options` say."""
    write = write_dynamo if options.exporter == "dynamo" else write_legacy
    names = list(inputs)
    common = dict(input_names=names, output_names=["logits"], opset_version=options.opset)
    write(module, tuple(inputs.values()), str(path), options, common)


def write_dynamo(module, values, path, options, common):
    if options.dynamic_batch:
        batch = torch.export.Dim("batch", min=2, max=4096)
        shapes = tuple({0: batch} for _ in values)
        # Named takes *values, which the exporter sees as one tuple.
        common["dynamic_shapes"] = (shapes,) if isinstance(module, Named) else shapes
    torch.onnx.export(
        module,
        values,
        path,
        dynamo=True,
        optimize=options.optimize,
        external_data=options.size == "real",
        verbose=False,
        **common,
    )


def write_legacy(module, values, path, options, common):
    if options.dynamic_batch:
        names = common["input_names"] + common["output_names"]
        common["dynamic_axes"] = {name: {0: "batch"} for name in names}
    mode = torch.onnx.TrainingMode
    torch.onnx.export(
        module,
        values,
        path,
        dynamo=False,
        do_constant_folding=options.optimize,
        training=mode.TRAINING if options.training_graph else mode.EVAL,
        **common,
    )


def subgraphs(node):
    """The graphs that a node holds as attributes."""
    return [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]


def is_kept(key, value):
    """Calls are kept too if nothing else holds an argument: an embedding's padding row, a cross entropy's smoothing."""
    is_call = key == "pkg.torch.onnx.fx_node" and any(f"aten.{name}.default" in value for name in ("embedding", "cross_entropy_loss"))
    return key in KEPT_METADATA or is_call


def clean(message):
    """Drops what depends on the exporting machine, such as stack traces with file names."""
    kept = [(e.key, e.value) for e in message.metadata_props if is_kept(e.key, e.value)]
    del message.metadata_props[:]
    for key, value in kept:
        message.metadata_props.add(key=key, value=value)
    if message.HasField("doc_string"):
        message.ClearField("doc_string")


def clean_graph(graph):
    parts = (graph.node, graph.input, graph.output, graph.value_info, graph.initializer)
    clean(graph)
    for part in parts:
        for message in part:
            clean(message)
    for node in graph.node:
        for inner in subgraphs(node):
            clean_graph(inner)


def strip(path):
    """Cleans the file at `path`; returns the model, without its external data."""
    model = onnx.load(str(path), load_external_data=False)
    clean_graph(model.graph)
    clean(model)
    del model.graph.metadata_props[:]
    for function in model.functions:
        clean(function)
        for node in function.node:
            clean(node)
    onnx.save(model, str(path))
    return model


def dims_of(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def operator_name(node):
    prefix = "" if node.domain in ("", "ai.onnx") else node.domain + "::"
    return prefix + node.op_type


def external_files(model):
    """The names of the files that hold the model's external data."""
    entries = [e for i in model.graph.initializer for e in i.external_data]
    return sorted({e.value for e in entries if e.key == "location"})


def describe(model):
    """The facts of a model that NAME.json holds."""
    graph = model.graph
    operators = collections.Counter(map(operator_name, graph.node))
    return dict(
        opset_imports={o.domain or "ai.onnx": o.version for o in model.opset_import},
        ir_version=model.ir_version,
        nodes=len(graph.node),
        functions=[f.name for f in model.functions],
        subgraphs=sum(len(subgraphs(node)) for node in graph.node),
        operators=dict(sorted(operators.items())),
        initializers=len(graph.initializer),
        external_data=external_files(model),
        inputs={i.name: dims_of(i) for i in graph.input},
    )
