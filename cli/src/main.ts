import { useBundledTypeBox } from './bundled-typebox.ts'

useBundledTypeBox()
// Loaded after that, because it imports TypeBox.
const { runCli } = await import('./cli.ts')
process.exitCode = await runCli(process.argv.slice(2), process.env)
