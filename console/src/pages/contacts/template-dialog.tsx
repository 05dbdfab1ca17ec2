import type { ConsoleSender } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { templateBubble } from '../../lib/bubble.ts'
import { plural } from '../../lib/format.ts'
import { useForm } from '../../lib/use-form.ts'
import { useSendMessage, useTemplateChoice } from '../../parts/network.queries.ts'
import { addressOf, type Person } from '../../parts/recipient.tsx'
import { TemplateSelect } from '../../parts/templates/template-select.tsx'
import { type Values, valuesToSend } from '../../parts/templates/values.ts'
import { VariableFields } from '../../parts/templates/variable-fields.tsx'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { usePrice } from './contacts.queries.ts'

interface TemplateDialogProps {
  person: Person
  sender: ConsoleSender
  onClose: () => void
}

const prefix = 'template.variables.'

/** Sends a template with its variables to a contact. */
export function TemplateDialog({ person, sender, onClose }: TemplateDialogProps) {
  const templates = (useTemplateChoice().data?.data ?? []).filter(
    ({ status, sendable, account }) => status === 'APPROVED' && sendable && account === sender.connection.account,
  )
  const chosenIn = (values: Record<string, string>) => templates.find(({ id }) => id === values['template.id'])
  const toSend = (values: Record<string, string>) =>
    valuesToSend(chosenIn(values)?.variables ?? [], withoutPrefix(values))
  const form = useForm({
    // The variables of the chosen template are added, named as the parameters of the API.
    first: { 'template.id': '' } as Record<string, string>,
    action: useSendMessage({ opens: false }),
    input: (values) => ({
      sender_id: sender.id,
      ...addressOf(person),
      type: 'template',
      template: { id: values['template.id'], variables: toSend(values) },
    }),
    onDone: onClose,
  })
  const template = chosenIn(form.values)
  const price = usePrice(template ? `template.${template.category}` : 'template')
  return (
    <FormDialog
      onClose={onClose}
      title="Send a template"
      detail={
        <>
          Recorded in the audit log under your name.
          {template && price !== undefined && ` It costs ${plural(price, 'credit')}.`}
        </>
      }
      size="l"
      form={form}
      submit="Send"
      disabled={!template}
    >
      <TemplateSelect
        templates={templates}
        value={form.values['template.id'] || null}
        onChange={(id) => form.set({ 'template.id': id ?? '', ...noValues(templates.find((each) => each.id === id)) })}
        error={form.errors['template.id']}
        data-autofocus
      />
      {template && (
        <>
          <VariableFields
            variables={template.variables}
            values={withoutPrefix(form.values)}
            errors={withoutPrefix(form.errors)}
            onChange={(values) => form.set(withPrefix(values))}
            showsExamples
          />
          <ChatPaper label="Preview">
            <ChatBubble bubble={templateBubble(template.components, toSend(form.values))} />
          </ChatPaper>
        </>
      )}
    </FormDialog>
  )
}

/** An empty value for each variable, so that errors are shown at their fields. */
const noValues = (template: ConsoleTemplate | undefined): Record<string, string> =>
  withPrefix(Object.fromEntries((template?.variables ?? []).map(({ key }) => [key, ''])))

const withPrefix = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]))

/** Only those with the prefix. */
const withoutPrefix = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) =>
      key.startsWith(prefix) && value !== undefined ? [[key.slice(prefix.length), value]] : [],
    ),
  )
