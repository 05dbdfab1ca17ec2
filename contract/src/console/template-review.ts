/** Why WhatsApp rejected a template, and which part of it caused that. */
import { asObject, draftOf, partOf, variablesIn } from './template-draft.ts'
import { checkTemplate, type TemplateProblem } from './template-rules.ts'

export type TemplatePart = 'header' | 'body' | 'footer' | 'buttons' | 'category'

interface RejectionText {
  reason: string
  remedy: string
}

/** WhatsApp's reason codes in words. It may add codes. */
const rejectionTexts: Readonly<Record<string, RejectionText>> = {
  INVALID_FORMAT: {
    reason: 'The format of the template is not valid.',
    remedy: 'Check the variables, their examples and the texts of the buttons, then submit it again.',
  },
  ABUSIVE_CONTENT: {
    reason: 'WhatsApp considers the content abusive or threatening.',
    remedy: 'Change the wording so that it does not threaten or insult, and asks for no sensitive data.',
  },
  INCORRECT_CATEGORY: {
    reason: 'The content does not fit the category.',
    remedy: 'Choose the category that fits, or remove what belongs to another one.',
  },
  TAG_CONTENT_MISMATCH: {
    reason: 'The content does not fit the category or the language.',
    remedy: 'Choose the category and the language of the content, or change the content.',
  },
  PROMOTIONAL: {
    reason: 'The content promotes something, but the category is not MARKETING.',
    remedy: 'Choose the category MARKETING, or remove what promotes.',
  },
  SCAM: {
    reason: 'WhatsApp considers the content a scam.',
    remedy: 'Say who you are and what the message is about, and link only to your own website.',
  },
}

const aboutCategory: ReadonlySet<string> = new Set(['INCORRECT_CATEGORY', 'TAG_CONTENT_MISMATCH', 'PROMOTIONAL'])

interface Reviewed {
  name: string
  language: string
  category: string
  status: string
  components: readonly unknown[]
  rejected_reason: string | null
  /** WhatsApp's own words, if it sent any. */
  status_info: { reason: string | null; recommendation: string | null } | null
}

export interface Rejection {
  /** Null: WhatsApp does not say which part, and our rules find nothing. */
  part: TemplatePart | null
  /** In WhatsApp's words if it sent any. */
  reason: string
  remedy: string | null
  /** What our rules find in the rejected template. */
  problems: TemplateProblem[]
}

/** Null if the template is not rejected. */
export function rejectionOf(template: Reviewed): Rejection | null {
  if (template.status !== 'REJECTED') return null
  const code = template.rejected_reason ?? ''
  const known = rejectionTexts[code]
  const info = template.status_info
  const problems = checkTemplate(draftOf(template))
  return {
    part: rejectedPart(template, problems),
    reason: info?.reason ?? known?.reason ?? (code === '' ? 'WhatsApp gave no reason.' : `WhatsApp’s reason: ${code}.`),
    remedy: info?.recommendation ?? known?.remedy ?? null,
    problems,
  }
}

/** The part that caused the rejection, as far as the reason code, WhatsApp's words and our rules tell; null if they do not. */
export function rejectedPart(
  template: Reviewed,
  problems: readonly TemplateProblem[] = checkTemplate(draftOf(template)),
): TemplatePart | null {
  if (template.status !== 'REJECTED') return null
  if (aboutCategory.has(template.rejected_reason ?? '')) return 'category'
  const [found] = problems.flatMap(({ path }) => parts.find((part) => path.split('.')[0] === part) ?? [])
  if (found !== undefined) return found
  const words = `${template.status_info?.reason ?? ''} ${template.status_info?.recommendation ?? ''}`.toLowerCase()
  const own = parts.filter((part) => partNamed(template, part) !== undefined)
  const named = own.filter((part) => new RegExp(`\\b${part.replace(/s$/, '')}s?\\b`).test(words))
  if (named.length === 1) return named[0] ?? null
  const variable = own.filter((part) => variablesIn(partNamed(template, part)?.text).length > 0)
  if (/\b(parameter|variable)s?\b/.test(words) && variable.length === 1) return variable[0] ?? null
  // A template of one part leaves no doubt.
  return template.components.length === 1 && partOf(template.components, 'BODY') ? 'body' : null
}

const parts = ['header', 'body', 'footer', 'buttons'] as const

const partNamed = ({ components }: Reviewed, part: (typeof parts)[number]) =>
  components.map(asObject).find((each) => String(each?.type).toLowerCase() === part)
