import type { ConsoleForm } from '@parley/contract/console/forms'
import { useEffect, useState } from 'react'
import { apiFile } from '../../lib/api.ts'
import { download } from '../../lib/download.ts'
import { formatBytes } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { FileStateBadge, plainName } from '../../parts/file-state.tsx'
import { Button } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import styles from './forms.module.css'
import { imageTypeOf } from './image-type.ts'

type File = ConsoleForm['files'][number]

/** The uploaded files: their status, a preview of images, and download. */
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
  const [imageUrl, setImageUrl] = useState<string | null>(null)
  useEffect(() => () => void (imageUrl && URL.revokeObjectURL(imageUrl)), [imageUrl])
  const save = useAction(() => download(path, plainName(file.file_name)))
  const show = useAction(async () => {
    const blob = await apiFile(path)
    const type = imageTypeOf(new Uint8Array(await blob.slice(0, 16).arrayBuffer()))
    if (!type) throw new Error('This file is not a valid image. Download it and open it with care.')
    setImageUrl(URL.createObjectURL(new Blob([blob], { type })))
  })
  const { state } = file
  const mayBeImage = state.kind === 'fetched' && /^image\/(png|jpeg|webp|gif)$/.test(state.content_type)
  return (
    <li className={styles.file}>
      <span className={styles.fileWords}>
        <SafeText className="clip">{plainName(file.file_name)}</SafeText>
        <span className="small quiet">
          <bdi>{file.field}</bdi> · <bdi>{file.mime_type}</bdi>
          {state.kind === 'fetched' && <> · {formatBytes(state.size)}</>}
        </span>
      </span>
      <FileStateBadge state={state} />
      {mayBeImage && !imageUrl && (
        <Button size="s" icon="eye" busy={show.isPending} onClick={() => show.run()}>
          Preview
        </Button>
      )}
      {state.kind === 'fetched' && (
        <Button size="s" icon="download" busy={save.isPending} onClick={() => save.run()}>
          Download
        </Button>
      )}
      {imageUrl && <img className={styles.picture} src={imageUrl} alt={`Upload for ${file.field}`} />}
    </li>
  )
}
