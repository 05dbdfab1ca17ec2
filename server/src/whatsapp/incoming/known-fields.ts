import { fieldReaders } from './incoming.ts'

/** Fields that WhatsApp has and nothing reads yet. */
const others: ReadonlySet<string> = new Set([
  'automatic_events',
  'business_status_update',
  'business_username_update',
  'business_username_updates',
  'calls',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
  'partner_solutions',
  'payment_configuration_update',
  'template_correct_category_detection',
  'tracking_events',
])

/** Whether WhatsApp is known to have this field. The labels of metrics are limited to these. */
export const isNamedField = (field: string): boolean => fieldReaders.has(field) || others.has(field)
