from attention_lab.check.step import Step
from attention_lab.observation import Call, Layer


def project(x, q_proj, k_proj, v_proj):
    return q_proj(x), k_proj(x), v_proj(x)


class Project(Step):
    right = staticmethod(project)
    takes = ("B T d_model", "", "", "")
    axes = ("batch", "token", "feature")
    returns = ("q", "k", "v")
    catalogue = "project"

    def arguments(self, draw, sizes):
        x = draw.normal(sizes.B, sizes.T, sizes.d_model)
        return x, *draw.layers(sizes.d_model)[:3]

    def special(self, draw, sizes):
        yield from super().special(draw, sizes)
        x = draw.special(sizes.B, sizes.T, sizes.d_model)["many zeros"]
        layers = draw.layers(sizes.d_model)[:3]
        unbiased = (Layer(layer.weight, 0 * layer.bias) for layer in layers)
        yield "zeros that stay zeros", (x, *unbiased)

    def extremes(self, draw, sizes):
        x, *layers = self.arguments(draw, sizes)
        yield self.probe("large inputs", Call((100 * x, *layers)), tolerance=1e-4)


STEP = Project()
