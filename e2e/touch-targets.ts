import type { Page } from 'playwright-core'
import { lasting } from './page-ready.ts'

/** The size that a finger needs, in CSS pixels. */
const touchSize = 44

/**
 * What a person can touch on the page that is smaller than 44 × 44 px, each with its size. An element counts as large as
 * the part of it that is not cut off, together with its label. Links in a sentence may be smaller.
 */
export const smallTargets = (page: Page): Promise<string[]> =>
  lasting(() => page.evaluate<string[]>(`(${findSmall})(${touchSize})`))

/** Runs in the page. As text, because the test's compiler would add its own helpers. */
const findSmall = `(size) => {
  const controls = 'a[href], button, input, select, textarea, summary, tr[tabindex="0"], ' +
    '[role="button"], [role="tab"], [role="option"], [role="switch"], [role="menuitem"], [role="link"]'
  const cutsOff = /hidden|clip/
  /** The part of a rectangle that no ancestor cuts off. What is scrolled out of view can be scrolled back. */
  const seenPart = (element) => {
    let { left, top, right, bottom } = element.getBoundingClientRect()
    for (let one = element.parentElement; one; one = one.parentElement) {
      const { overflowX, overflowY, clipPath, position } = getComputedStyle(one)
      const box = one.getBoundingClientRect()
      if (clipPath !== 'none') return { left, top, right: left, bottom: top }
      if (cutsOff.test(overflowX)) { left = Math.max(left, box.left); right = Math.min(right, box.right) }
      if (cutsOff.test(overflowY)) { top = Math.max(top, box.top); bottom = Math.min(bottom, box.bottom) }
      if (position === 'fixed') break
    }
    return { left, top, right: Math.max(left, right), bottom: Math.max(top, bottom) }
  }
  /** The card that a link covers with a pseudo-element. */
  const coveredBy = (element) => {
    const { content, position, inset } = getComputedStyle(element, '::after')
    if (content === 'none' || position !== 'absolute' || !inset.split(' ').every((edge) => parseFloat(edge) <= 0)) return null
    return getComputedStyle(element).position === 'static' ? element.offsetParent : null
  }
  const isInSentence = (element) => {
    if (element.tagName !== 'A' || getComputedStyle(element).display !== 'inline') return false
    const block = element.parentElement.closest('p, li, span, div, td, dd, label')
    const around = [...block.childNodes].filter((node) => !node.contains(element)).map((node) => node.textContent).join('')
    return /\\p{L}{2,}/u.test(around)
  }
  const isTouchable = (element) => {
    if (element.disabled || element.type === 'hidden' || element.closest('[inert], [aria-hidden="true"]')) return false
    const { pointerEvents } = getComputedStyle(element)
    if (pointerEvents === 'none') return false
    // Moved out of the screen until it has the focus: the link to skip the navigation.
    return element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().bottom > 0
  }
  return [...document.querySelectorAll(controls)].filter((element) => isTouchable(element) && !isInSentence(element)).flatMap((element) => {
    const parts = [element, ...(element.labels ?? []), element.closest('label'), coveredBy(element)].filter(Boolean)
    const boxes = parts.map(seenPart).filter((box) => box.right > box.left && box.bottom > box.top)
    const box = boxes.length === 0 ? { left: 0, top: 0, right: 0, bottom: 0 } : {
      left: Math.min(...boxes.map((each) => each.left)),
      top: Math.min(...boxes.map((each) => each.top)),
      right: Math.max(...boxes.map((each) => each.right)),
      bottom: Math.max(...boxes.map((each) => each.bottom)),
    }
    const [width, height] = [box.right - box.left, box.bottom - box.top]
    // Half a pixel for rounding.
    if (width >= size - 0.5 && height >= size - 0.5) return []
    const name = element.getAttribute('aria-label') || element.textContent.trim().slice(0, 40) || element.name || element.type
    return [element.tagName.toLowerCase() + ' "' + name + '" ' + Math.round(width) + ' x ' + Math.round(height) + ' ' + element.className]
  })
}`
