import { rejectionOf, type TemplatePart } from '@parley/contract/console/template-review'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { Notice } from '../../../ui/states.tsx'

/** Why WhatsApp rejected the template, at the part that caused it. With `part` null: if WhatsApp did not say which. */
export function RejectedNotice({ template, part }: { template: ConsoleTemplate | null; part: TemplatePart | null }) {
  const rejection = template && rejectionOf(template)
  if (!rejection || rejection.part !== part) return null
  return (
    <Notice tone="bad" title={rejection.reason}>
      {part === null && 'WhatsApp did not say which part. '}
      {/* What the rules find is shown at the fields. */}
      {rejection.problems.length === 0 && rejection.remedy}
    </Notice>
  )
}
