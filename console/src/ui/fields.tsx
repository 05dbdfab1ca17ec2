import { PasswordInput as MantinePassword, type PasswordInputProps } from '@mantine/core'
import { Icon } from './icon.tsx'

/** Form fields in our style. Each takes a label, a description and an error, and links them for screen readers. */
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

/** A password field with a button that shows the password. Always set autoComplete. */
export function PasswordInput(props: PasswordInputProps) {
  return (
    <MantinePassword
      visibilityToggleIcon={({ reveal }) => <Icon name={reveal ? 'eyeOff' : 'eye'} />}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      // Mantine sets it on all other fields.
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}
