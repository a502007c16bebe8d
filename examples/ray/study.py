"""The same study on a Ray cluster: Ray starts the workers, the folder shares the trials out.

Needs `pip install ray` and a folder every node sees. `python examples/ray/study.py /shared/widths 8`
"""

import sys


def main(where, workers):
    import ray

    ray.init()

    @ray.remote(num_cpus=1)
    def work():
        from widths import main as study

        study(where)

    ray.get([work.remote() for _ in range(workers)])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
