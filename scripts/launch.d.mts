export function launch(name: string, args: string[]): Promise<void>
export function chooseNode(
  brought: string,
  machine: { execPath: string; versions: { node: string }; platform: string; arch: string },
): string
