/** A file as the control API expects it. */
export interface FileInput {
  base64: string
  mimeType: string
  filename: string
}

export async function fileInput(file: Blob, filename: string): Promise<FileInput> {
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  return {
    base64: dataUrl.slice(dataUrl.indexOf(',') + 1),
    mimeType: file.type || 'application/octet-stream',
    filename,
  }
}

/** A generated picture of the sun over a harbor, different each time. */
export async function samplePicture(): Promise<FileInput> {
  const canvas = document.createElement('canvas')
  canvas.width = 640
  canvas.height = 480
  const paint = canvas.getContext('2d')
  if (paint) paintHarbour(paint, Math.random())
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
  return fileInput(blob ?? new Blob([], { type: 'image/jpeg' }), 'harbour.jpg')
}

function paintHarbour(paint: CanvasRenderingContext2D, mood: number): void {
  const hue = 190 + mood * 150
  const sky = paint.createLinearGradient(0, 0, 0, 320)
  sky.addColorStop(0, `hsl(${hue} 62% 42%)`)
  sky.addColorStop(0.65, `hsl(${hue + 50} 75% 68%)`)
  sky.addColorStop(1, `hsl(${hue + 80} 92% 80%)`)
  paint.fillStyle = sky
  paint.fillRect(0, 0, 640, 320)
  const x = 180 + mood * 280
  paint.fillStyle = 'rgb(255 244 214 / 0.35)'
  for (const radius of [92, 66]) disc(paint, x, 250, radius)
  paint.fillStyle = '#fff4d6'
  disc(paint, x, 250, 44)
  for (const [base, height, light] of [
    [300, 70, 38],
    [322, 44, 26],
  ] as const) {
    paint.fillStyle = `hsl(${hue + 20} 38% ${light}%)`
    paint.beginPath()
    paint.moveTo(0, 330)
    for (let step = 0; step <= 640; step += 8)
      paint.lineTo(step, base - height * Math.abs(Math.sin(step / (70 + height) + mood * 9)))
    paint.lineTo(640, 330)
    paint.fill()
  }
  const sea = paint.createLinearGradient(0, 320, 0, 480)
  sea.addColorStop(0, `hsl(${hue + 40} 52% 56%)`)
  sea.addColorStop(1, `hsl(${hue} 58% 22%)`)
  paint.fillStyle = sea
  paint.fillRect(0, 320, 640, 160)
  paint.fillStyle = 'rgb(255 244 214 / 0.55)'
  for (let line = 0; line < 14; line++) {
    const width = 70 - line * 3 + 24 * Math.sin(line * 2.1)
    paint.fillRect(x - width / 2 + 8 * Math.sin(line), 328 + line * 10, width, 3)
  }
}

function disc(paint: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  paint.beginPath()
  paint.arc(x, y, radius, 0, Math.PI * 2)
  paint.fill()
}

/** A minimal one-page PDF. */
export function sampleDocument(): Promise<FileInput> {
  const content = 'BT /F1 22 Tf 60 740 Td (A referral, for the demo.) Tj ET'
  const parts = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = parts.map((part, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${part}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 6\n0000000000 65535 f \n${table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return fileInput(new Blob([text], { type: 'application/pdf' }), 'referral.pdf')
}

/** A two-second video of a ball. */
export async function sampleVideo(): Promise<FileInput> {
  return { ...(await sampleFile('clip.mp4')), mimeType: 'video/mp4' }
}

export const sampleSticker = (): Promise<FileInput> => sampleFile('sticker.webp')

const sampleFile = async (name: string): Promise<FileInput> =>
  fileInput(await (await fetch(`/handset/${name}`)).blob(), name)

/** A two-second tune in the format of voice messages. */
export async function sampleVoice(): Promise<FileInput> {
  return { ...(await sampleFile('voice.ogg')), mimeType: 'audio/ogg; codecs=opus' }
}
