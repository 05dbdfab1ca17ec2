import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useAccounts } from './editor/basics.tsx'
import { EditorForm } from './editor/editor-form.tsx'
import { useEditor } from './editor/use-editor.ts'
import { draftOfValues, emptyValues, valuesOfTemplate } from './editor/values.ts'
import { useCreateTemplate, useEditTemplate, useTemplate } from './templates.queries.ts'

const useBack = (): Back => ({ to: useHere().path('templates'), title: 'Templates' })

/** A new template; with `from`, a copy of another one. */
export function NewTemplatePage() {
  const [from] = useSearchParam('from')
  return from === null ? <NewTemplate copied={null} /> : <CopiedTemplate id={from} />
}

function CopiedTemplate({ id }: { id: string }) {
  return (
    <DetailPage query={useTemplate(id)} title="Template" back={useBack()}>
      {(template) => <NewTemplate key={id} copied={template} />}
    </DetailPage>
  )
}

function NewTemplate({ copied }: { copied: ConsoleTemplate | null }) {
  const accounts = useAccounts()
  const back = useBack()
  const open = useOpen()
  const editor = useEditor({
    first: copied ? { ...valuesOfTemplate(copied), name: `${copied.name}_copy`, account: copied.account } : emptyValues,
    action: useCreateTemplate(),
    input: (values) => {
      const account = values.account ?? accounts[0]?.account
      return { ...draftOfValues(values), ...(account !== undefined && { account }) }
    },
    onDone: open,
  })
  return (
    <>
      <PageHeader title="Create template" back={back} detail="WhatsApp reviews each template before it can be sent." />
      <PageBody>
        <EditorForm editor={editor} edited={null} cancel={back.to} accounts={accounts} />
      </PageBody>
    </>
  )
}

export function EditTemplatePage() {
  const { id = '' } = useParams({ strict: false })
  return (
    <DetailPage query={useTemplate(id)} title="Template" back={useBack()}>
      {(template) => <EditTemplate key={id} template={template} />}
    </DetailPage>
  )
}

function EditTemplate({ template }: { template: ConsoleTemplate }) {
  const here = useHere()
  const open = useOpen()
  const page = here.path(`templates/${template.id}`)
  const editor = useEditor({
    first: valuesOfTemplate(template),
    action: useEditTemplate(template.id),
    input: (values) => {
      const { category, components } = draftOfValues(values)
      return { components, ...(category !== template.category && { category }) }
    },
    onDone: open,
    showsAll: template.status === 'REJECTED',
  })
  return (
    <>
      <PageHeader
        title="Edit template"
        name={`Edit ${template.name}`}
        back={{ to: page, title: template.name }}
        detail={
          template.status === 'APPROVED'
            ? 'WhatsApp reviews it again. You can edit an approved template once a day, and ten times in 30 days.'
            : 'WhatsApp reviews it again. It can be sent once it is approved.'
        }
      />
      <PageBody>
        <EditorForm editor={editor} edited={template} cancel={page} />
      </PageBody>
    </>
  )
}

/** Opens the page of a template that was submitted. */
function useOpen() {
  const here = useHere()
  const navigate = useNavigate()
  return ({ id }: ConsoleTemplate) => void navigate({ to: here.path(`templates/${id}`), ignoreBlocker: true })
}
