export const serviceFlags: readonly string[]
export function launch(name: string, args: string[]): Promise<void>
export function chooseNode(
  bundled: string,
  machine: { execPath: string; versions: { node: string }; platform: string; arch: string },
): string
