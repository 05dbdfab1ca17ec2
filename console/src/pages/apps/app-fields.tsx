import type { ComponentProps } from 'react'
import type { FieldProps } from '../../lib/use-form.ts'
import { PasswordInput, Select, TextInput } from '../../ui/fields.tsx'

/** The fields that several dialogs about apps and accounts have. */

export const WorkspaceField = ({
  workspaces,
  ...field
}: FieldProps<string | null> & { workspaces: readonly { id: string; name: string }[] }) => (
  <Select
    label="Workspace"
    placeholder="Choose a workspace"
    data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
    searchable={workspaces.length > 8}
    allowDeselect={false}
    {...field}
  />
)

export const AccountIdField = (field: ComponentProps<typeof TextInput>) => (
  <TextInput
    label="WhatsApp Business account ID"
    inputMode="numeric"
    autoComplete="off"
    classNames={{ input: 'mono' }}
    {...field}
  />
)

export const AccessTokenField = (field: ComponentProps<typeof PasswordInput>) => (
  <PasswordInput
    label="Access token"
    description="A system user token that never expires, with the permissions whatsapp_business_management and whatsapp_business_messaging."
    autoComplete="off"
    {...field}
  />
)

export const GraphUrlField = (field: ComponentProps<typeof TextInput>) => (
  <TextInput
    label="Graph API URL"
    description="Leave empty to use Meta’s Graph API."
    placeholder="https://graph.facebook.com"
    autoComplete="off"
    spellCheck={false}
    {...field}
  />
)

/** The ID of the only row, which needs no choice. */
export const only = (rows: readonly { id: string }[]): string | null =>
  rows.length === 1 ? (rows[0]?.id ?? null) : null
