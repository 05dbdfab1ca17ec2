import { useNavigate, useParams } from '@tanstack/react-router'
import { useHere, useSession } from '../../lib/session.ts'
import { PageBody } from '../../ui/layout.tsx'
import { ExternalLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { ErrorsList } from './errors-list.tsx'
import { EventsList } from './events-list.tsx'
import { Quickstart } from './quickstart.tsx'
import { WebhooksGuide } from './webhooks-guide.tsx'

const chapters = [
  { name: 'quickstart', title: 'Quickstart', Chapter: Quickstart },
  { name: 'webhooks', title: 'Verify webhooks', Chapter: WebhooksGuide },
  { name: 'events', title: 'Events', Chapter: EventsList },
  { name: 'errors', title: 'Errors', Chapter: ErrorsList },
] as const

export function DocsPage() {
  const here = useHere()
  const navigate = useNavigate()
  const { public_url: publicUrl } = useSession()
  const { page } = useParams({ strict: false }) as { page?: string }
  const { name, title, Chapter } = chapters.find((each) => each.name === page) ?? chapters[0]
  return (
    <>
      <PageHeader
        title="Docs"
        name={`${title} · Docs`}
        actions={<ExternalLink href={`${publicUrl}/docs/api`}>API reference</ExternalLink>}
      >
        <Tabs
          label="Chapters"
          tabs={chapters}
          value={name}
          onChange={(chosen) => void navigate({ href: here.path(chosen === 'quickstart' ? 'docs' : `docs/${chosen}`) })}
        />
      </PageHeader>
      <PageBody narrow>
        <TabPanel name={name}>
          <Chapter />
        </TabPanel>
      </PageBody>
    </>
  )
}
