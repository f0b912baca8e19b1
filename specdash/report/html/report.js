"use strict"
// Draws the figures of the report, for the theme that is shown; on paper always the light one.
;(() => {
  const { specs, templates } = JSON.parse(document.getElementById("specdash-figures").textContent)
  const root = document.documentElement
  const dark = matchMedia("(prefers-color-scheme: dark)")
  const button = document.getElementById("theme")
  const plots = [...document.querySelectorAll(".plot")]
  const paper = 680 // px that fit on A4 between the margins
  const narrow = 480 // px; in a narrower figure an axis' title would run out of it
  const drawn = new Set()

  const theme = () => root.dataset.theme ?? (dark.matches ? "dark" : "light")
  const copy = (value) => JSON.parse(JSON.stringify(value))

  function spec(plot, name) {
    const { light, dark } = specs[plot.parentElement.id]
    const figure = copy(light) // plotly.js writes into what it is given
    figure.layout.template = copy(templates[name])
    for (const [path, value] of name === "dark" ? dark : []) {
      const holder = path.slice(0, -1).reduce((inside, key) => inside[key], figure)
      holder[path.at(-1)] = copy(value)
    }
    return figure
  }

  function draw(plot, name = theme(), width) {
    const { data, layout } = spec(plot, name)
    if (width) Object.assign(layout, { width, autosize: false })
    else if (plot.clientWidth < narrow) {
      for (const axis of ["xaxis", "yaxis"]) layout.template.layout[axis].title.font.size = 10.5
    }
    Plotly.react(plot, data, layout, { responsive: !width, displayModeBar: false })
    drawn.add(plot)
  }

  function redraw() {
    button.textContent = theme() === "dark" ? "Light" : "Dark"
    drawn.forEach((plot) => draw(plot))
  }

  function save(event) {
    const format = event.target.dataset?.save
    if (!format) return
    const figure = event.target.closest("figure")
    const { data, layout } = spec(figure.querySelector(".plot"), "light")
    const name = [document.querySelector("meta[name=evaluation]").content, figure.id].join("_")
    const version = document.querySelector("meta[name=generator]").content.replace(" ", "-")
    const size = { width: 900, height: layout.height, scale: 2 }
    Plotly.downloadImage({ data, layout }, { format, filename: `${name}_${version}`, ...size })
  }

  // What comes near the screen is drawn: a report of many datasets opens at once.
  const near = new IntersectionObserver(
    (entries) => entries.forEach(({ isIntersecting, target }) => {
      if (!isIntersecting) return
      near.unobserve(target)
      draw(target)
    }),
    { rootMargin: "800px" },
  )
  plots.forEach((plot) => near.observe(plot))

  Plotly.setPlotConfig({ logging: 0 }) // It would warn of every colour that a hatched bar takes from a list.
  button.hidden = false
  button.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark"
    redraw()
  })
  dark.addEventListener("change", redraw)
  document.addEventListener("click", save)
  document.querySelectorAll("[data-save]").forEach((element) => (element.hidden = false))
  addEventListener("beforeprint", () => {
    const shown = plots.filter((plot) => !plot.closest("details:not([open])"))
    shown.forEach((plot) => draw(plot, "light", paper))
  })
  addEventListener("afterprint", redraw)
  redraw()
})()
