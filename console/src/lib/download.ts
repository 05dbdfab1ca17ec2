import { apiFile, type Query } from './api.ts'

/** Fetches a file of the console's API, asking for confirmation where that is needed, and hands it to the browser to keep. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  keepFile(await apiFile(path, { query }), name)
}

export function keepFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  // As plain bytes: whatever it is, the browser keeps it and does not show it.
  link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
