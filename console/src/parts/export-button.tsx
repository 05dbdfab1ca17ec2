import type { Query } from '../lib/api.ts'
import { download } from '../lib/download.ts'
import { useHere } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { Button } from '../ui/button.tsx'

interface ExportButtonProps {
  file: `${string}.csv`
  query: Query
  saveAs?: string
}

/** Downloads the filtered list as CSV. */
export function ExportButton({ file, query, saveAs = file }: ExportButtonProps) {
  const here = useHere()
  const save = useAction(() => download(here.api(file), saveAs, query), { done: 'File downloaded' })
  return (
    <Button icon="download" busy={save.isPending} onClick={() => save.run()}>
      Export CSV
    </Button>
  )
}
