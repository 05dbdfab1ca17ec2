import { Menu as MantineMenu } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

interface MenuItem {
  title: string
  icon?: IconName
  onSelect: () => void
  danger?: boolean
  disabled?: boolean
}

interface MenuProps {
  /** The label of the three dots: "Actions for Backend key". */
  label: string
  /** Groups are separated by a line; false and null entries are left out. */
  groups: readonly (readonly (MenuItem | false | null)[])[]
  /** Replaces the three dots. */
  trigger?: ReactElement
}

/** A menu of actions, opened by three dots or by `trigger`. */
export function Menu({ label, groups, trigger }: MenuProps) {
  const filled = groups
    .map((group) => group.filter((item): item is MenuItem => Boolean(item)))
    .filter((group) => group.length > 0)
  if (filled.length === 0) return null
  return (
    <MantineMenu width="max-content" aria-label={label}>
      <MantineMenu.Target>{trigger ?? <IconButton icon="more" label={label} />}</MantineMenu.Target>
      <MantineMenu.Dropdown>
        {filled.map((group, index) => (
          <MenuGroup key={group[0]?.title} divided={index > 0}>
            {group.map(({ title, icon, onSelect, danger, disabled }) => (
              <MantineMenu.Item
                key={title}
                leftSection={icon && <Icon name={icon} size={14} />}
                onClick={onSelect}
                disabled={disabled ?? false}
                {...(danger ? { 'data-danger': true } : {})}
              >
                {title}
              </MantineMenu.Item>
            ))}
          </MenuGroup>
        ))}
      </MantineMenu.Dropdown>
    </MantineMenu>
  )
}

function MenuGroup({ divided, children }: { divided: boolean; children: ReactNode }) {
  return (
    <>
      {divided && <MantineMenu.Divider />}
      {children}
    </>
  )
}
