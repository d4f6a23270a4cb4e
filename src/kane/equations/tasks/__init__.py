"""All tasks by name.  To add a task, add it to a file here and its file to this list."""

from kane.equations.tasks import derivatives, dynamics, forces, frames, products, regressors
from kane.equations.tasks.task import Task, task_program

TASKS: dict[str, Task] = {
    task.name: task
    for module in (dynamics, frames, forces, derivatives, products, regressors)
    for task in module.TASKS
}

__all__ = ["TASKS", "Task", "task_program"]
