import { partOf } from '@parley/contract/console/template-draft'
import { rejectionOf, type TemplatePart } from '@parley/contract/console/template-review'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { plainWord } from '../../lib/format.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Stack } from '../../ui/layout.tsx'
import styles from './templates.module.css'

/** Why WhatsApp rejected the template, beside the part that caused it. */
export function RejectionCard({ template, edit }: { template: ConsoleTemplate; edit: string | null }) {
  const rejection = rejectionOf(template)
  if (!rejection) return null
  const { part, reason, remedy, problems } = rejection
  return (
    <Card
      title="Rejected by WhatsApp"
      actions={
        edit && (
          <ButtonLink to={edit} icon="edit" kind="primary">
            Edit and submit again
          </ButtonLink>
        )
      }
    >
      <Stack gap={3}>
        <div className={styles.rejected}>
          {part ? (
            <>
              <strong>{plainWord(part)}</strong>
              <blockquote className={styles.quoted}>
                <bdi>{textOfPart(template, part)}</bdi>
              </blockquote>
            </>
          ) : (
            <span>WhatsApp did not say which part.</span>
          )}
          <p className={styles.reason}>
            <Icon name="warning" size={14} />
            <span>
              <strong>{reason}</strong> {problems.length === 0 && remedy}
            </span>
          </p>
          {problems.length > 0 && (
            <ul className={styles.problems}>
              {problems.map(({ path, message }) => (
                <li key={`${path} ${message}`}>{message}</li>
              ))}
            </ul>
          )}
        </div>
        {!edit && <p className="small quiet">Edit it in WhatsApp Manager and submit it again.</p>}
      </Stack>
    </Card>
  )
}

function textOfPart({ components, category }: ConsoleTemplate, part: TemplatePart): string {
  switch (part) {
    case 'category':
      return plainWord(category)
    case 'buttons':
      return (partOf(components, 'BUTTONS')?.buttons ?? []).map(({ text }) => text ?? 'Copy code').join(' · ')
    case 'header': {
      const header = partOf(components, 'HEADER')
      return header?.text ?? plainWord(header?.format ?? 'Text')
    }
    case 'footer':
      return partOf(components, 'FOOTER')?.text ?? ''
    default:
      return partOf(components, 'BODY')?.text ?? ''
  }
}
