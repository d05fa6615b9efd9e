import { useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { Menu, type MenuItem } from '../menu/menu.tsx'
import { type Siblings, SIBLINGS_OF, useSiblings } from './siblings.ts'

export interface CrumbMenuProps {
  readonly siblings: Siblings
  /** Which of them one is at. */
  readonly here: string
}

/** The button beside a part of where one is that lists its siblings; they are asked for when it opens. */
export function CrumbMenu({ siblings, here }: CrumbMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useSiblings(siblings, isOpen)
  const { one, keys } = SIBLINGS_OF[siblings.of]
  const title = `Go to another ${one}`
  useCommands([{ id: `siblings ${one}`, title, keys, group: 'Go to', run: () => setOpen(true) }])
  const waiting = error ? error.message : 'Loading …'
  const items: readonly MenuItem[] = data
    ? [...data.items, ...(data.all ? [data.all] : [])].map((item) => ({
        ...item,
        isHere: item.label === here || item.note === here,
      }))
    : [{ label: waiting, refusal: waiting, run: () => undefined }]
  return (
    <Menu
      label={<span className="visually-hidden">{title}</span>}
      title={title}
      isSmall
      items={items}
      open={isOpen}
      onOpen={setOpen}
    />
  )
}
