import { useMemo, useState } from 'react'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useChoice } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { InstallationLog } from './installation-log.tsx'
import { People } from './people.tsx'
import { Prices } from './prices.tsx'
import { WorkspaceTable } from './workspace-table.tsx'
import { usePeople, useWorkspaces } from './workspaces.queries.ts'

const tabNames = ['workspaces', 'people', 'prices', 'log'] as const

export function WorkspacesPage() {
  const [tab, setTab] = useChoice('tab', tabNames)
  const [isCreating, setCreating] = useState(false)
  const workspaces = useWorkspaces()
  const people = usePeople()
  usePaletteActions(
    useMemo(
      () => [
        { id: 'workspace.create', title: 'Create workspace', keywords: 'operator new', run: () => setCreating(true) },
      ],
      [],
    ),
  )
  return (
    <>
      <PageHeader
        title="Workspaces"
        actions={
          tab === 'workspaces' && (
            <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
              Create workspace
            </Button>
          )
        }
      >
        <Tabs
          label="Installation"
          tabs={[
            { name: 'workspaces', title: 'Workspaces', count: workspaces.rows?.length },
            { name: 'people', title: 'People', count: people.rows?.length },
            { name: 'prices', title: 'Prices' },
            { name: 'log', title: 'Audit log' },
          ]}
          value={tab}
          onChange={setTab}
        />
      </PageHeader>
      <PageBody>
        <TabPanel name={tab}>
          {tab === 'workspaces' && <WorkspaceTable onCreate={() => setCreating(true)} />}
          {tab === 'people' && <People />}
          {tab === 'prices' && <Prices />}
          {tab === 'log' && <InstallationLog />}
        </TabPanel>
      </PageBody>
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  )
}
