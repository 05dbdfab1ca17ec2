import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { notifyAccount } from '../webhooks/notify.ts'
import type { Template } from '../world.ts'

/** Simulates the review: after a delay the template is approved, or rejected if its name contains `reject`. */
export function scheduleReview(network: Network, template: Template): void {
  network.timers.after(switchesFor(network.world).templateReviewMs, () => {
    if (network.world.templates.get(template.id)?.status !== 'PENDING') return
    const passes = !template.name.includes('reject')
    setTemplateStatus(network, template, passes ? 'APPROVED' : 'REJECTED', passes ? 'NONE' : 'INVALID_FORMAT')
  })
}

export function setTemplateStatus(network: Network, template: Template, status: string, reason = 'NONE'): void {
  template.status = status
  template.rejectedReason = reason
  notifyTemplateStatus(network, template, status, reason)
  network.changed()
}

/** In this webhook the template ID is a number; everywhere else it is a string. */
export function notifyTemplateStatus(network: Network, template: Template, event: string, reason: string): void {
  notifyAccount(network, template.wabaId, 'message_template_status_update', {
    event,
    message_template_id: Number(template.id),
    message_template_name: template.name,
    message_template_language: template.language,
    reason,
    message_template_category: template.category,
    ...(event === 'REJECTED'
      ? {
          rejection_info: {
            reason: 'The format of the template is not valid.',
            recommendation: 'Change it and submit it again.',
          },
        }
      : {}),
    ...(event === 'PAUSED'
      ? { other_info: { title: 'FIRST_PAUSE', description: 'The template is paused for 3 hours.' } }
      : {}),
  })
  network.log.publish({ name: 'template', data: { id: template.id, name: template.name, status: event } })
}
