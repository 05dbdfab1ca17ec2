import type { ComponentProps } from 'react'
import { TextInput } from '../ui/fields.tsx'

/** The address of another person, so the browser must not fill in the user's own. */
export const EmailInput = (props: ComponentProps<typeof TextInput>) => (
  <TextInput
    label="Email address"
    type="email"
    autoComplete="off"
    autoCapitalize="none"
    spellCheck={false}
    {...props}
  />
)
