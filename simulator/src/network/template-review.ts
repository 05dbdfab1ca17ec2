import type { Review, Template, World } from '../world.ts'

/** WhatsApp's words for its reasons. */
const rejections: Readonly<Record<string, Review['rejection']>> = {
  INVALID_FORMAT: {
    reason: 'The format of the template is not valid.',
    recommendation: 'Change it and submit it again.',
  },
  TAG_CONTENT_MISMATCH: {
    reason: 'The content promotes something, which does not fit the category UTILITY.',
    recommendation: 'Choose the category MARKETING, or remove what promotes.',
  },
  ABUSIVE_CONTENT: {
    reason: 'The body threatens the customer.',
    recommendation: 'Remove the threat and say what you need.',
  },
}

const promotes = /\b(sale|discount|offer|promo|promotion|coupon|deal|% off|buy now|black friday)\b/i
const threatens = /\b(legal action|debt collector|or else)\b/i

/** What the review of a template decides: the next result that was set, else by its name and its content. */
export function reviewOf(world: World, template: Template): Review {
  const next = world.nextReviews.shift()
  if (next) return withWords(next)
  const texts = template.components.map(({ text }) => String(text ?? '')).join('\n')
  if (template.name.includes('reject')) return rejected('INVALID_FORMAT')
  if (threatens.test(texts)) return rejected('ABUSIVE_CONTENT')
  if (template.category === 'UTILITY' && promotes.test(texts)) return rejected('TAG_CONTENT_MISMATCH')
  return { status: 'APPROVED', reason: 'NONE' }
}

const rejected = (reason: string): Review => withWords({ status: 'REJECTED', reason })

export function withWords(review: Review): Review {
  const rejection = review.rejection ?? rejections[review.reason]
  return review.status === 'REJECTED' && rejection ? { ...review, rejection } : review
}
