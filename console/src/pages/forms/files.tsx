import type { ConsoleForm } from '@parley/contract/console/forms'
import { FormFile } from '../../parts/files/form-file.tsx'
import styles from './forms.module.css'

/** The uploaded files: pictures, players, downloads, or why a file is missing. */
export function Files({ form }: { form: ConsoleForm }) {
  return (
    <ul className={styles.fileList}>
      {form.files.map((file) => (
        <li key={file.index} className={styles.file}>
          <span className="small quiet">
            <bdi>{file.field}</bdi>
          </span>
          <FormFile formId={form.id} file={file} />
        </li>
      ))}
    </ul>
  )
}
