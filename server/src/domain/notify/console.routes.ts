import { Alerts } from '@parley/contract/console/alerts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import type { MailSettings } from '../../net/mail-settings.ts'
import { listAlerts } from './alerts.ts'

export const alertConsoleRoutes = ({ mail }: { mail: MailSettings | null }): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/alerts',
    who: 'overview:read',
    mayLag: true,
    reply: Alerts,
    handle: async (context) => ({
      object: 'list' as const,
      data: await listAlerts(context),
      sends_mail: mail !== null,
    }),
  }),
]
