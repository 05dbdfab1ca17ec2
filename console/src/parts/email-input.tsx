import type { ComponentProps } from 'react'
import { TextInput } from '../ui/fields.tsx'

/** The address of somebody else: the browser does not fill in one's own. */
export const EmailInput = (props: ComponentProps<typeof TextInput>) => (
  <TextInput
    label="E-mail address"
    type="email"
    autoComplete="off"
    autoCapitalize="none"
    spellCheck={false}
    {...props}
  />
)
