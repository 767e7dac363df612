from attention_lab.check.draw import OTHER
from attention_lab.check.step import Step
from attention_lab.observation import Call


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

    def extremes(self, draw):
        x, *layers = self.arguments(draw, OTHER)
        yield self.probe("large inputs", Call((100 * x, *layers)), tolerance=1e-4)


STEP = Project()
