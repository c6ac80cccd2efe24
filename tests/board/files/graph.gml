graph [
  name "Two Coasts"
  node [
    id 0
    label "Brazil"
    continent "South America"
    bonus "2"
    x 140.0
    y 150.0
  ]
  node [
    id 1
    label "Peru"
    continent "South America"
    bonus "2"
    x 100.0
    y 160.0
  ]
  node [
    id 2
    label "North Africa"
    continent "Africa"
    bonus "3"
    x 300.0
    y 120.0
  ]
  node [
    id 3
    label "Egypt"
    continent "Africa"
    bonus "3"
    x 380.0
    y 100.0
  ]
  node [
    id 4
    label "East Africa"
    continent "Africa"
    bonus "3"
    x 400.0
    y 160.0
  ]
  edge [
    source 0
    target 1
  ]
  edge [
    source 0
    target 2
  ]
  edge [
    source 2
    target 3
  ]
  edge [
    source 2
    target 4
  ]
  edge [
    source 3
    target 4
  ]
]
