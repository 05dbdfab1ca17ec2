import { apiFile, type Query } from './api.ts'

/** Downloads a file from the console's API. Prompts for a confirmation if the request needs one. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  saveFile(await apiFile(path, { query }), name)
}

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  // As an octet stream, so that the browser saves the file and never displays it.
  link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
