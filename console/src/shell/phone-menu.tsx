import { Drawer } from '@mantine/core'
import { useLayer } from '../ui/layers.ts'
import { Sidebar } from './sidebar.tsx'

interface Props {
  open: boolean
  onClose: () => void
  onSearch: () => void
}

/** The navigation on phones. */
export function PhoneMenu({ open, onClose, onSearch }: Props) {
  const layer = useLayer(open)
  return (
    <Drawer.Root opened={open} onClose={onClose} position="left" size={288} {...layer}>
      <Drawer.Overlay />
      <Drawer.Content aria-label="Menu">
        <Sidebar onSearch={onSearch} />
      </Drawer.Content>
    </Drawer.Root>
  )
}
