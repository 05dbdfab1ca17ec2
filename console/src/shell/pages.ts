import type { Permission } from '@parley/contract/console/permissions'
import type { ComponentType } from 'react'
import type { IconName } from '../ui/icon.tsx'

/** A page of the console: its path, title, required permission and file. */
export interface Page {
  path: string
  title: string
  load: () => Promise<{ default: ComponentType }>
  /** Who may open it. Without it, everyone who is signed in. */
  needs?: Permission | 'operator'
  /** Pages with it are in the navigation; `letter` is pressed after `g`. */
  nav?: { group: Group; icon: IconName; letter?: string }
}

export const groups = ['', 'Messaging', 'Developers', 'Workspace', 'Installation'] as const
type Group = (typeof groups)[number]

const w = '/w/$workspace'

export const pages: readonly Page[] = [
  {
    path: w,
    title: 'Overview',
    needs: 'overview:read',
    nav: { group: '', icon: 'overview', letter: 'o' },
    load: () => import('../pages/overview/overview.page.tsx').then((page) => ({ default: page.OverviewPage })),
  },
  {
    // With or without an open contact, so that the list stays as it is.
    path: `${w}/contacts/{-$id}`,
    title: 'Contacts',
    needs: 'messages:read',
    nav: { group: 'Messaging', icon: 'person', letter: 'i' },
    load: () => import('../pages/contacts/contacts.page.tsx').then((page) => ({ default: page.ContactsPage })),
  },
  {
    path: `${w}/messages`,
    title: 'Messages',
    needs: 'messages:read',
    nav: { group: 'Messaging', icon: 'message', letter: 'm' },
    load: () => import('../pages/messages/messages.page.tsx').then((page) => ({ default: page.MessagesPage })),
  },
  {
    path: `${w}/messages/$id`,
    title: 'Message',
    needs: 'messages:read',
    load: () => import('../pages/messages/message.page.tsx').then((page) => ({ default: page.MessagePage })),
  },
  {
    path: `${w}/templates`,
    title: 'Templates',
    needs: 'templates:read',
    nav: { group: 'Messaging', icon: 'template', letter: 't' },
    load: () => import('../pages/templates/templates.page.tsx').then((page) => ({ default: page.TemplatesPage })),
  },
  {
    path: `${w}/templates/new`,
    title: 'Create template',
    needs: 'templates:manage',
    load: () => import('../pages/templates/editor.page.tsx').then((page) => ({ default: page.NewTemplatePage })),
  },
  {
    path: `${w}/templates/$id/edit`,
    title: 'Edit template',
    needs: 'templates:manage',
    load: () => import('../pages/templates/editor.page.tsx').then((page) => ({ default: page.EditTemplatePage })),
  },
  {
    path: `${w}/templates/$id`,
    title: 'Template',
    needs: 'templates:read',
    load: () => import('../pages/templates/template.page.tsx').then((page) => ({ default: page.TemplatePage })),
  },
  {
    path: `${w}/senders`,
    title: 'Senders',
    needs: 'senders:read',
    nav: { group: 'Messaging', icon: 'sender', letter: 's' },
    load: () => import('../pages/senders/senders.page.tsx').then((page) => ({ default: page.SendersPage })),
  },
  {
    path: `${w}/senders/$id`,
    title: 'Sender',
    needs: 'senders:read',
    load: () => import('../pages/senders/sender.page.tsx').then((page) => ({ default: page.SenderPage })),
  },
  {
    path: `${w}/forms`,
    title: 'Form submissions',
    needs: 'forms:read',
    nav: { group: 'Messaging', icon: 'form', letter: 'f' },
    load: () => import('../pages/forms/forms.page.tsx').then((page) => ({ default: page.FormsPage })),
  },
  {
    path: `${w}/forms/$id`,
    title: 'Form submission',
    needs: 'forms:read',
    load: () => import('../pages/forms/form.page.tsx').then((page) => ({ default: page.FormPage })),
  },
  {
    path: `${w}/orders`,
    title: 'Orders',
    needs: 'orders:read',
    nav: { group: 'Messaging', icon: 'order', letter: 'b' },
    load: () => import('../pages/orders/orders.page.tsx').then((page) => ({ default: page.OrdersPage })),
  },
  {
    path: `${w}/orders/$id`,
    title: 'Order',
    needs: 'orders:read',
    load: () => import('../pages/orders/order.page.tsx').then((page) => ({ default: page.OrderPage })),
  },
  {
    path: `${w}/keys`,
    title: 'API keys',
    needs: 'keys:read',
    nav: { group: 'Developers', icon: 'key', letter: 'k' },
    load: () => import('../pages/keys/keys.page.tsx').then((page) => ({ default: page.KeysPage })),
  },
  {
    path: `${w}/webhooks`,
    title: 'Webhooks',
    needs: 'webhooks:read',
    nav: { group: 'Developers', icon: 'webhook', letter: 'w' },
    load: () => import('../pages/webhooks/webhooks.page.tsx').then((page) => ({ default: page.WebhooksPage })),
  },
  {
    path: `${w}/webhooks/$id`,
    title: 'Webhook',
    needs: 'webhooks:read',
    load: () => import('../pages/webhooks/webhook.page.tsx').then((page) => ({ default: page.WebhookPage })),
  },
  {
    path: `${w}/deliveries`,
    title: 'Deliveries',
    needs: 'deliveries:read',
    nav: { group: 'Developers', icon: 'delivery', letter: 'd' },
    load: () => import('../pages/deliveries/deliveries.page.tsx').then((page) => ({ default: page.DeliveriesPage })),
  },
  {
    path: `${w}/requests`,
    title: 'Request log',
    needs: 'requests:read',
    nav: { group: 'Developers', icon: 'request', letter: 'l' },
    load: () => import('../pages/requests/requests.page.tsx').then((page) => ({ default: page.RequestsPage })),
  },
  {
    path: `${w}/api-errors`,
    title: 'API errors',
    needs: 'requests:read',
    nav: { group: 'Developers', icon: 'apiError', letter: 'r' },
    load: () => import('../pages/api-errors/api-errors.page.tsx').then((page) => ({ default: page.ApiErrorsPage })),
  },
  {
    path: `${w}/docs`,
    title: 'Docs',
    needs: 'requests:read',
    nav: { group: 'Developers', icon: 'docs', letter: 'h' },
    load: () => import('../pages/docs/docs.page.tsx').then((page) => ({ default: page.DocsPage })),
  },
  {
    path: `${w}/credits`,
    title: 'Credits',
    needs: 'credits:read',
    nav: { group: 'Workspace', icon: 'credit', letter: 'c' },
    load: () => import('../pages/credits/credits.page.tsx').then((page) => ({ default: page.CreditsPage })),
  },
  {
    path: `${w}/team`,
    title: 'Team',
    needs: 'team:read',
    nav: { group: 'Workspace', icon: 'team', letter: 'p' },
    load: () => import('../pages/team/team.page.tsx').then((page) => ({ default: page.TeamPage })),
  },
  {
    path: `${w}/alerts`,
    title: 'Alerts',
    needs: 'overview:read',
    nav: { group: 'Workspace', icon: 'bell', letter: 'n' },
    load: () => import('../pages/alerts/alerts.page.tsx').then((page) => ({ default: page.AlertsPage })),
  },
  {
    path: `${w}/audit`,
    title: 'Audit log',
    needs: 'audit:read',
    nav: { group: 'Workspace', icon: 'audit', letter: 'a' },
    load: () => import('../pages/audit/audit.page.tsx').then((page) => ({ default: page.AuditPage })),
  },
  {
    path: `${w}/settings`,
    title: 'Settings',
    needs: 'settings:manage',
    nav: { group: 'Workspace', icon: 'settings', letter: ',' },
    load: () => import('../pages/settings/settings.page.tsx').then((page) => ({ default: page.SettingsPage })),
  },
  {
    path: '/operator/workspaces',
    title: 'Workspaces',
    needs: 'operator',
    nav: { group: 'Installation', icon: 'building' },
    load: () => import('../pages/workspaces/workspaces.page.tsx').then((page) => ({ default: page.WorkspacesPage })),
  },
  {
    path: '/operator/apps',
    title: 'Apps and connections',
    needs: 'operator',
    nav: { group: 'Installation', icon: 'plug' },
    load: () => import('../pages/apps/apps.page.tsx').then((page) => ({ default: page.AppsPage })),
  },
  {
    path: '/operator/updates',
    title: 'Network updates',
    needs: 'operator',
    nav: { group: 'Installation', icon: 'globe' },
    load: () => import('../pages/updates/updates.page.tsx').then((page) => ({ default: page.UpdatesPage })),
  },
  {
    path: '/operator/health',
    title: 'Health',
    needs: 'operator',
    nav: { group: 'Installation', icon: 'pulse' },
    load: () => import('../pages/health/health.page.tsx').then((page) => ({ default: page.HealthPage })),
  },
  {
    path: '/conversation',
    title: 'Conversation',
    load: () =>
      import('../pages/conversation/conversation.page.tsx').then((page) => ({ default: page.ConversationPage })),
  },
  {
    path: '/account',
    title: 'Your account',
    load: () => import('../pages/account/account.page.tsx').then((page) => ({ default: page.AccountPage })),
  },
]
