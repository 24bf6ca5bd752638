"""Ten models of other people, small enough for two cores, each with its loss: what compare_eager exports and trains.

Needs `scripts/python-reference --models` (torchvision, timm, transformers). Weights are random, nothing is loaded."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy

CLASSES, VOCABULARY = 100, 2000


class Classifier(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, labels):
        return cross_entropy(self.model(images), labels)


class NextToken(nn.Module):
    """Of a model of `transformers` that returns logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, targets):
        return cross_entropy(self.model(ids, use_cache=False).logits.flatten(0, 1), targets.flatten())


class Masked(nn.Module):
    """An encoder: some positions are padding, which nothing attends to and no loss is taken of."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask, targets):
        logits = self.model(ids, attention_mask=mask).logits
        return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


def pictures(batch, size):
    return torch.randn(batch, 3, size, size), torch.arange(batch) % CLASSES


def tokens(batch, length):
    ids = torch.randint(VOCABULARY, (batch, length))
    return ids, ids.roll(-1, 1)


def padded_tokens(batch, length):
    ids, targets = tokens(batch, length)
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(batch):
        mask[row, length - length * row // (2 * batch):] = 0
    return ids, mask, targets.masked_fill(mask == 0, -100)


def vision(name, batch, size, **options):
    import torchvision
    return Classifier(torchvision.models.get_model(name, weights=None, num_classes=CLASSES, **options)), pictures(batch, size)


def timm_model(name, batch, size, **options):
    import timm
    return Classifier(timm.create_model(name, pretrained=False, num_classes=CLASSES, **options)), pictures(batch, size)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return NextToken(GPT2LMHeadModel(GPT2Config(n_embd=192, n_layer=4, n_head=6, vocab_size=VOCABULARY, n_positions=128))), tokens(4, 64)


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return NextToken(LlamaForCausalLM(LlamaConfig(hidden_size=192, intermediate_size=512, num_hidden_layers=4, num_attention_heads=6,
                                                  num_key_value_heads=2, vocab_size=VOCABULARY, max_position_embeddings=128))), tokens(4, 64)


def bert():
    from transformers import BertConfig, BertForMaskedLM
    return Masked(BertForMaskedLM(BertConfig(hidden_size=192, intermediate_size=768, num_hidden_layers=4, num_attention_heads=6,
                                             vocab_size=VOCABULARY, max_position_embeddings=128))), padded_tokens(4, 64)


def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM
    model = MixtralForCausalLM(MixtralConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                                             num_key_value_heads=2, num_local_experts=4, vocab_size=VOCABULARY,
                                             max_position_embeddings=128))
    # The default calls an operator that is written in Python, which no C++ program has (flopmark refuses it by its name).
    model.set_experts_implementation("batched_mm")
    return NextToken(model), tokens(2, 64)


MODELS = {
    "resnet18": lambda: vision("resnet18", 4, 96),                  # batch norm's buffers change
    "resnext50_32x4d": lambda: vision("resnext50_32x4d", 2, 64),    # grouped convolutions
    "mobilenet_v2": lambda: vision("mobilenet_v2", 4, 96),          # depthwise convolutions, dropout
    "efficientnet_b0": lambda: vision("efficientnet_b0", 4, 64),    # squeeze and excitation, stochastic depth
    "convnext_atto": lambda: timm_model("convnext_atto", 4, 96),    # depthwise 7 x 7, layer norm over channels
    "vit_tiny": lambda: timm_model("vit_tiny_patch16_224", 4, 96, img_size=96),
    "gpt2": gpt2,                                                   # tied weights, dropout
    "llama": llama,                                                 # grouped queries
    "bert": bert,                                                   # an encoder with a mask, dropout, tied weights
    "mixtral": mixtral,                                             # a mixture of experts
}


def build(name):
    """The model in train mode and the batch it is trained on, the same for every process."""
    torch.manual_seed(0)
    module, inputs = MODELS[name]()
    return module.train(), inputs
