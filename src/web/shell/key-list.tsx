import { Modal } from '../parts/dialog/modal.tsx'
import { shownKeys, useAllCommands } from './commands.tsx'
import styles from './key-list.module.css'

/** Every key that does something now, and what. */
export function KeyList({ open, close }: { readonly open: boolean; readonly close: () => void }) {
  const commands = useAllCommands().filter(({ keys }) => keys !== undefined)
  const groups = [...new Set(commands.map(({ group = 'On this page' }) => group))]
  return (
    <Modal open={open} close={close} title="Keys">
      {groups.map((name) => (
        <section key={name} className={styles.group}>
          <h3>{name}</h3>
          <dl>
            {commands
              .filter(({ group = 'On this page' }) => group === name)
              .map(({ id, title, keys = '' }) => (
                <div key={id}>
                  <dt>{title}</dt>
                  <dd>
                    <kbd>{shownKeys(keys)}</kbd>
                  </dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </Modal>
  )
}
