import {
  PasswordInput as MantinePassword,
  type PasswordInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { useState } from 'react'
import { timeZone } from '../lib/time-zone.ts'
import { Icon } from './icon.tsx'

/** Form fields in our style. Each takes a label, a description and an error, and links them for screen readers. */
export {
  Autocomplete,
  MultiSelect,
  NumberInput,
  Radio,
  SegmentedControl,
  Select,
  Slider,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core'

/** A date and time, entered in the person's time zone. Read it with `fromTimeField`. */
export const TimeInput = (props: TextInputProps) => (
  <TextInput type="datetime-local" description={`Time zone: ${timeZone()}`} {...props} />
)

/** A password or secret with a button that shows and hides it. Always set autoComplete. */
export function PasswordInput(props: PasswordInputProps) {
  const [isVisible, setVisible] = useState(false)
  // The last word of the label: password, secret or token.
  const noun = (typeof props.label === 'string' && props.label.toLowerCase().split(' ').at(-1)) || 'password'
  return (
    <MantinePassword
      visibilityToggleIcon={({ reveal }) => <Icon name={reveal ? 'eyeOff' : 'eye'} />}
      visible={isVisible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{ 'aria-label': `${isVisible ? 'Hide' : 'Show'} ${noun}` }}
      // Mantine sets it on all other fields.
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}
