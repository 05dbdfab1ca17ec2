import { PasswordInput as MantinePassword, type PasswordInputProps } from '@mantine/core'
import { Icon } from './icon.tsx'

/** The fields of forms, in our look. Each takes label, description and error, and ties them together for screen readers. */
export {
  Checkbox,
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

/** A password that can be looked at and pasted into. Give it its autoComplete. */
export function PasswordInput(props: PasswordInputProps) {
  return (
    <MantinePassword
      visibilityToggleIcon={({ reveal }) => <Icon name={reveal ? 'eyeOff' : 'eye'} />}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
      // Mantine sets it on every other field.
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}
