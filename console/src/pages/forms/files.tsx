import type { ConsoleForm } from '@parley/contract/console/forms'
import type { FileLoss } from '@parley/contract/flow-response'
import { useEffect, useState } from 'react'
import { apiFile } from '../../lib/api.ts'
import { download } from '../../lib/download.ts'
import { formatBytes } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './forms.module.css'
import { pictureTypeOf } from './picture-type.ts'

type File = ConsoleForm['files'][number]

/** What was uploaded, how it stands with each file, and how to get it. */
export function Files({ form }: { form: ConsoleForm }) {
  const here = useHere()
  return (
    <ul className={styles.fileList}>
      {form.files.map((file) => (
        <FileLine key={file.index} file={file} path={here.api(`forms/${form.id}/files/${file.index}`)} />
      ))}
    </ul>
  )
}

function FileLine({ file, path }: { file: File; path: string }) {
  const [picture, setPicture] = useState<string | null>(null)
  useEffect(() => () => void (picture && URL.revokeObjectURL(picture)), [picture])
  const save = useAction(() => download(path, plainName(file.file_name)))
  const show = useAction(async () => {
    const blob = await apiFile(path)
    const type = pictureTypeOf(new Uint8Array(await blob.slice(0, 16).arrayBuffer()))
    if (!type) throw new Error('This file only claims to be a picture. Download it and open it with care.')
    setPicture(URL.createObjectURL(new Blob([blob], { type })))
  })
  const { state } = file
  const mayBePicture = state.kind === 'fetched' && /^image\/(png|jpeg|webp|gif)$/.test(state.content_type)
  return (
    <li className={styles.file}>
      <span className={styles.fileWords}>
        <SafeText className="clip">{plainName(file.file_name)}</SafeText>
        <span className="small quiet">
          <bdi>{file.field}</bdi> · <bdi>{file.mime_type}</bdi>
          {state.kind === 'fetched' && <> · {formatBytes(state.size)}</>}
        </span>
      </span>
      <FileState state={state} />
      {mayBePicture && !picture && (
        <Button size="s" icon="eye" busy={show.isPending} onClick={() => show.run()}>
          Show
        </Button>
      )}
      {state.kind === 'fetched' && (
        <Button size="s" icon="download" busy={save.isPending} onClick={() => save.run()}>
          Download
        </Button>
      )}
      {picture && <img className={styles.picture} src={picture} alt={`What was uploaded as ${file.field}`} />}
    </li>
  )
}

/** Without what makes a name seem another: path signs, and characters that turn or hide text. */
const plainName = (name: string) => name.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').replaceAll(/[/\\]/g, '_') || 'file'

const losses: Readonly<Record<FileLoss, string>> = {
  missing: 'The network no longer has it',
  wrong_hash: 'What the network has is not what was uploaded',
  too_large: 'Larger than is kept here',
  too_late: 'Could not be fetched in time',
  retention: 'Past its retention',
}

function FileState({ state }: { state: File['state'] }) {
  if (state.kind === 'fetched') return null
  if (state.kind === 'gone') return <StatusBadge status="gone" word={losses[state.why]} tone="bad" />
  return (
    <span className="small quiet">
      <StatusBadge status="pending" word="On its way" /> {state.attempts > 0 && <>next try </>}
      {state.attempts > 0 && <TimeAgo at={state.next_try_at} />}
    </span>
  )
}
