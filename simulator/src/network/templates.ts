import { arrayIn, isObject, textIn } from '../json.ts'
import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { notifyAccount } from '../webhooks/notify.ts'
import type { Review, Template } from '../world.ts'
import { reviewOf, withWords } from './template-review.ts'

/** Simulates the review, which ends after a delay. */
export function scheduleReview(network: Network, template: Template): void {
  network.timers.after(switchesFor(network.world).templateReviewMs, () => {
    if (network.world.templates.get(template.id)?.status !== 'PENDING') return
    setTemplateStatus(network, template, reviewOf(network.world, template))
  })
}

export function setTemplateStatus(network: Network, template: Template, review: Review): void {
  template.status = review.status
  template.rejectedReason = review.reason
  notifyTemplateStatus(network, template, withWords(review))
  network.changed()
}

/** In this webhook the template ID is a number; everywhere else it is a string. */
const idsOf = ({ id, name, language }: Template) => ({
  message_template_id: Number(id),
  message_template_name: name,
  message_template_language: language,
})

export function notifyTemplateStatus(network: Network, template: Template, review: Review): void {
  const { status: event, reason, rejection } = review
  notifyAccount(network, template.wabaId, 'message_template_status_update', {
    event,
    ...idsOf(template),
    reason,
    message_template_category: template.category,
    ...(rejection ? { rejection_info: rejection } : {}),
    ...(event === 'PAUSED'
      ? { other_info: { title: 'FIRST_PAUSE', description: 'The template is paused for 3 hours.' } }
      : {}),
  })
  network.log.publish({ name: 'template', data: { id: template.id, name: template.name, status: event } })
}

/** After an edit: the new texts. */
export function notifyTemplateComponents(network: Network, template: Template): void {
  const part = (type: string) => template.components.find((each) => each.type === type)
  const text = (type: string) => textIn(part(type) ?? {}, 'text')
  const buttons = (arrayIn(part('BUTTONS') ?? {}, 'buttons') ?? []).filter(isObject)
  const [title, footer] = [text('HEADER'), text('FOOTER')]
  notifyAccount(network, template.wabaId, 'message_template_components_update', {
    ...idsOf(template),
    message_template_element: text('BODY'),
    ...(title === undefined ? {} : { message_template_title: title }),
    ...(footer === undefined ? {} : { message_template_footer: footer }),
    ...(buttons.length === 0
      ? {}
      : {
          message_template_buttons: buttons.map((button) => ({
            message_template_button_type: button.type,
            message_template_button_text: button.text,
          })),
        }),
  })
}
