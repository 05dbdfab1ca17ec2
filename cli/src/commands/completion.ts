import { type Command, UsageError } from '../command.ts'
import { readCompletions } from '../completion/completions.ts'
import { bashScript, fishScript, zshScript } from '../completion/scripts.ts'

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript }

export const commands: readonly Command[] = [
  {
    name: 'completion',
    details:
      'bash: add eval "$(./parley completion bash)" to ~/.bashrc. zsh: the same with zsh, in ~/.zshrc after compinit. fish: ./parley completion fish > ~/.config/fish/completions/parley.fish. It completes the command "parley"; put node_modules/.bin into PATH for it.',
    args: ['SHELL'],
    examples: ['completion bash', 'completion zsh', 'completion fish > ~/.config/fish/completions/parley.fish'],
    async run({ args: [name = ''], commands: all }) {
      if (!(name in shells)) throw new UsageError(`Unknown shell "${name}". Use bash, zsh or fish.`)
      const script = shells[name as keyof typeof shells](await readCompletions(all))
      return { lines: [script], json: { shell: name, script } }
    },
  },
]
